package conflict

import (
	"strings"
	"sync"

	"leanctx/knowledge/words"
)

// names gives the class of each name; of a class a project mostly has one for one
// purpose.
var names = sync.OnceValue(func() map[string]string { return classes(members) })

// members of each class, parted by |.
var members = map[string]string{
	"database":        "mysql|mariadb|postgresql|postgres|sqlite|mongodb|oracle|dynamodb|cockroachdb|cassandra|couchdb|firestore|mssql|sql server|clickhouse|bigquery|snowflake|redshift|duckdb",
	"ci":              "jenkins|github actions|gitlab ci|circleci|travis|travis ci|teamcity|buildkite|azure pipelines|drone",
	"cloud":           "aws|gcp|azure|google cloud|heroku|hetzner|digitalocean|fly.io|vercel|netlify|cloud run|render",
	"package manager": "npm|yarn|pnpm|bun",
	"python packages": "pip|poetry|uv|pipenv|conda|pdm",
	"broker":          "kafka|rabbitmq|nats|sqs|pulsar|activemq|redpanda|pubsub",
	"cache":           "redis|memcached|valkey|dragonfly|hazelcast",
	"frontend":        "react|vue|svelte|angular|solid|ember|preact",
	"state":           "redux|zustand|mobx|recoil|jotai|pinia|vuex",
	"test runner":     "jest|vitest|mocha|jasmine|ava|pytest|unittest|nose",
	"e2e":             "playwright|cypress|selenium|puppeteer|webdriverio",
	"bundler":         "webpack|vite|rollup|esbuild|parcel|turbopack|rspack",
	"linter":          "eslint|biome|tslint|pylint|flake8|golangci-lint|staticcheck",
	"formatter":       "prettier|black|yapf|gofumpt",
	"license":         "mit|apache-2.0|gpl|gplv3|gpl-3.0|agpl|agpl-3.0|bsd|bsd-3-clause|mpl-2.0|lgpl|proprietary",
	"api":             "rest|graphql|grpc|soap|trpc|json-rpc",
	"orm":             "prisma|typeorm|sequelize|drizzle|sqlalchemy|gorm|ent|hibernate",
	"indent":          "tabs|spaces",
	"branch":          "master|main|trunk|develop",
	"log format":      "json|plain text|logfmt|xml",
	"monitoring":      "datadog|prometheus|newrelic|grafana cloud|cloudwatch",
	"errors":          "sentry|rollbar|bugsnag|airbrake",
	"orchestration":   "kubernetes|nomad|docker swarm|ecs|mesos",
	"deployer":        "argo cd|flux|spinnaker|octopus",
	"infrastructure":  "terraform|pulumi|cloudformation|opentofu|cdk",
	"css":             "tailwind|bootstrap|bulma|sass|emotion",
	"password hash":   "bcrypt|argon2|argon2id|scrypt|pbkdf2",
	"signature":       "rs256|hs256|es256|eddsa|ps256",
	"cadence":         "hourly|daily|weekly|biweekly|fortnightly|monthly|quarterly|yearly",
	"region":          "eu-central-1|eu-west-1|eu-west-2|eu-west-3|eu-north-1|us-east-1|us-east-2|us-west-1|us-west-2|ap-south-1|ap-southeast-1|ap-southeast-2|ap-northeast-1|sa-east-1|ca-central-1|europe-west1|us-central1",
	"tracker":         "jira|linear|trello|asana|youtrack",
	"chat":            "slack|teams|discord|mattermost",
	"language":        "typescript|javascript|python|golang|rust|java|kotlin|ruby|php|elixir|scala",
}

// sameNames are other spellings of a name.
var sameNames = map[string]string{"postgres": "postgresql", "argon2id": "argon2", "gplv3": "gpl", "gpl-3.0": "gpl", "agpl-3.0": "agpl", "biweekly": "fortnightly", "gcp": "google cloud"}

func classes(lists map[string]string) map[string]string {
	out := map[string]string{}
	for class, list := range lists {
		for name := range strings.SplitSeq(list, "|") {
			out[name] = class
		}
	}
	return out
}

// generic are words that say nothing of what a fact is about.
var generic = words.Set(`use uses used using run runs running is are was be has have now currently always our we the all default
	version versions set value kind type choose chose chosen decided decision primary main current new go goes come comes
	hold holds held keep keeps kept store stored stores written write writes pin pinned pins manage managed with under
	service every each per by as for of to in on at after size live lives lifetime happen happens newer support supports
	code built builds build listen listens`)

// polarities of words that say yes or no.
var polarities = map[string]int{
	"yes": 1, "on": 1, "enabled": 1, "enable": 1, "allowed": 1, "required": 1, "mandatory": 1, "true": 1, "automatically": 1,
	"no": -1, "off": -1, "disabled": -1, "disable": -1, "forbidden": -1, "optional": -1, "false": -1, "never": -1, "not": -1, "prohibited": -1, "banned": -1, "manually": -1,
}

// afterOn are words before which on says yes: telemetry is on by default.
var afterOn = words.Set(`by for everywhere now always again since and`)

// circumstances are words that tell two facts of one form apart, as stems.
var circumstances = words.Set(`product prod stage dev develop test ci local eu us web mobil io ios android frontend backend window linux maco
	intern public extern api queri databas access refresh admin minimum maximum min max read write unit e2e end go yaml python node
	staff custom doc document`)

// slots are the words for what one thing or person is, as stems.
var slots = words.Set(`own owner lead maintain maintainer region host licens port branch broker format cadenc databas cache languag framework manag`)

// counters are words whose number is a place in a series, as stems.
var counters = words.Set(`number no item entri step part phase chapter page issu ticket task case exampl test value fact row level group round sprint iter node shard
	worker replica partit instanc machin player team room`)

// synonyms bring words for one thing together; stems.
var synonyms = map[string]string{"owner": "own", "ownership": "own", "led": "lead", "leader": "lead", "db": "databas", "licenc": "licens", "licens": "licens", "prod": "product", "platform": "host", "indent": "indent", "indentat": "indent", "cach": "cache", "messag": "messag", "log": "log", "deps": "depend", "dep": "depend", "limit": "maximum", "max": "maximum", "minim": "minimum", "min": "minimum"}

var numberWords = map[string]string{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "twelve": "12"}

// units by the dimension that they measure.
var units = map[string]string{
	"ms": "time", "s": "time", "sec": "time", "second": "time", "seconds": "time", "m": "time", "min": "time", "minute": "time", "minutes": "time", "h": "time",
	"hour": "time", "hours": "time", "day": "time", "days": "time", "week": "time", "weeks": "time", "month": "time", "months": "time", "year": "time", "years": "time",
	"kb": "size", "mb": "size", "gb": "size", "tb": "size", "kib": "size", "mib": "size", "gib": "size", "byte": "size", "bytes": "size",
	"%": "percent", "percent": "percent",
}
