package language

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestWhatAQuestionAsksOfThePast(t *testing.T) {
	for text, want := range map[string]Past{
		"which x/crypto version did we have first":                          {Kind: AsksFirst, Subject: "x/crypto version"},
		"why did we give up our own segments":                               {Kind: AsksWhy, Subject: "own segments"},
		"what did the school switch to once Sodexo was gone":                {Kind: AsksAfter, Subject: "school", Old: "Sodexo"},
		"what happened to Agravis":                                          {Kind: AsksAfter, Old: "Agravis"},
		"was there a time when we paid for parking":                         {Kind: AsksEver, Subject: "parking"},
		"do pupils still wear blazers":                                      {Kind: AsksStill, Subject: "pupils wear blazers", Verb: "wear"},
		"did the vectors ever sit in one file per segment":                  {Kind: AsksEver, Subject: "vectors sit one file per segment", Verb: "sit"},
		"who put down De Heus as the supplier":                              {Kind: AsksWho, Subject: "De Heus supplier"},
		"how did the seat price developed over the time":                    {Kind: AsksTimeline, Subject: "seat price developed"},
		"list every feed supplier we have had":                              {Kind: AsksAll, Subject: "feed supplier"},
		"which feed suppliers have we had":                                  {Kind: AsksAll, Subject: "feed suppliers"},
		"what database did we use before the move to Postgres":              {Kind: AsksBefore, Subject: "database", New: "Postgres"},
		"who led the backend before Jonas?":                                 {Kind: AsksBefore, Subject: "led backend", New: "Jonas"},
		"Before Postgres, what did we use?":                                 {Kind: AsksBefore, New: "Postgres"},
		"where was the warehouse before it moved to Duisburg":               {Kind: AsksBefore, Subject: "warehouse", New: "Duisburg"},
		"what platform did we run before the switch from Magento to Medusa": {Kind: AsksBefore, Subject: "platform", Old: "Magento", New: "Medusa"},
		"which analyser stood in the lab before GreenWheel drove samples":   {Kind: AsksBefore, Subject: "analyser stood lab", New: "GreenWheel drove samples"},
		"what came before Jenkins":                                          {Kind: AsksBefore, New: "Jenkins"},
		"what did we have before that?":                                     {},
		"what was our region before":                                        {Kind: AsksEarlier, Subject: "region"},
		"how fast did physics tick previously":                              {Kind: AsksEarlier, Subject: "fast physics tick"},
		"what did we use to print labels with":                              {Kind: AsksEarlier, Subject: "print labels"},
		"we used to run jobs on what":                                       {Kind: AsksEarlier, Subject: "jobs"},
		"who was our previous art director":                                 {Kind: AsksEarlier, Subject: "art director"},
		"previous region":                                                   {Kind: AsksEarlier, Subject: "region"},
		"what was the old database":                                         {Kind: AsksEarlier, Subject: "database"},
		"what came after Vue 2 in the frontend":                             {Kind: AsksAfter, Old: "Vue 2 frontend"},
		"which tokens followed the JWTs":                                    {Kind: AsksAfter, Subject: "tokens", Old: "JWTs"},
		"what did we switch to after CircleCI":                              {Kind: AsksAfter, Old: "CircleCI"},
		"what was HL7 replaced by":                                          {Kind: AsksAfter, Old: "HL7"},
		"what did we replace Solr with":                                     {Kind: AsksAfter, Old: "Solr"},
		"what do we use instead of Solr":                                    {Kind: AsksAfter, Old: "Solr"},
		"who took over from Mira":                                           {Kind: AsksAfter, Old: "Mira"},
		"since when do we use PostgreSQL":                                   {Kind: AsksSince, Subject: "PostgreSQL"},
		"when did we move the warehouse to Duisburg":                        {Kind: AsksSince, Subject: "warehouse", New: "Duisburg"},
		"when did we start to use Plausible":                                {Kind: AsksSince, Subject: "Plausible"},
		"when did the rate limit go up to 600":                              {Kind: AsksSince, Subject: "rate limit", New: "600"},
		"when did we switch from DHL to DPD":                                {Kind: AsksSince, Old: "DHL", New: "DPD"},
		"when was Switch added as a platform":                               {Kind: AsksSince, Subject: "Switch platform"},
		"how long have we been in eu-west-3":                                {Kind: AsksSince, Subject: "eu-west-3"},
		"until when was Mira the backend lead":                              {Kind: AsksUntil, Subject: "Mira backend lead"},
		"when did we stop using RabbitMQ":                                   {Kind: AsksUntil, Subject: "RabbitMQ"},
		"how long did we keep Solr?":                                        {Kind: AsksUntil, Subject: "Solr"},
		"on what day did the contract with Twilio end":                      {Kind: AsksUntil, Subject: "contract Twilio"},
		"did we ever use MySQL":                                             {Kind: AsksEver, Subject: "MySQL"},
		"was the code ever proprietary":                                     {Kind: AsksEver, Subject: "code proprietary"},
		"did we use Vue 2 at some time":                                     {Kind: AsksEver, Subject: "Vue 2"},
		"were pictures once kept in a folder":                               {Kind: AsksEver, Subject: "pictures folder"},
		"what was the very first region we ran in":                          {Kind: AsksFirst, Subject: "region"},
		"what netcode did we have originally":                               {Kind: AsksFirst, Subject: "netcode"},
		"which databases have we used so far":                               {Kind: AsksAll, Subject: "databases"},
		"do we still use Twilio for text messages":                          {Kind: AsksStill, Subject: "Twilio text messages"},
		"can parcels still be announced by fax":                             {Kind: AsksStill, Subject: "parcels announced fax"},
		"is Redis still used for the queue before deploy?":                  {Kind: AsksStill, Subject: "Redis queue before deploy"},
		"who decided on releases each Tuesday":                              {Kind: AsksWho, Subject: "releases each Tuesday"},
		"whose idea was the fax gateway":                                    {Kind: AsksWho, Subject: "fax gateway"},
		"why did we move from Unity to Godot":                               {Kind: AsksWhy, Old: "Unity", New: "Godot"},
		"why was RabbitMQ dropped":                                          {Kind: AsksWhy, Subject: "RabbitMQ"},
		"how many times did the region change":                              {Kind: AsksCount, Subject: "region"},
		"how often has the carrier changed since March 2024":                {Kind: AsksCount, Subject: "carrier"},
		"list all frontend frameworks over time":                            {Kind: AsksTimeline, Subject: "frontend frameworks"},
		"show the history of the shipping carrier":                          {Kind: AsksTimeline, Subject: "shipping carrier"},
		"how have the languages changed over time":                          {Kind: AsksTimeline, Subject: "languages"},
		"what will we use next month":                                       {Kind: AsksPlan, From: dayOf(2026, 12, 1), Until: endOfDay(dayOf(2026, 12, 31))},
		"which database will we use from January on":                        {Kind: AsksPlan, Subject: "database January"},
		"what was decided about hosting":                                    {Kind: AsksTimeline, Subject: "hosting"},
		"where did we host befor AWS":                                       {Kind: AsksBefore, Subject: "host", New: "AWS"},
		"where was our office previusly":                                    {Kind: AsksEarlier, Subject: "office"},
		"before Nomad we had what?":                                         {Kind: AsksBefore, New: "Nomad"},
		"and before github actions?":                                        {Kind: AsksBefore, New: "github actions"},
		"who had been design lead prior Paolo":                              {Kind: AsksBefore, Subject: "design lead", New: "Paolo"},
		"who was the predecessor of Paolo":                                  {Kind: AsksBefore, New: "Paolo"},
		"what was Nomad's predecessor":                                      {Kind: AsksBefore, New: "Nomad"},
		"which billing tool and which tax tool did we use before Chargebee": {Kind: AsksBefore, Subject: "billing tool tax tool", Several: []string{"billing tool", "tax tool"}, New: "Chargebee"},
		"how long did the importer and its jobs share a format":             {Kind: AsksUntil, Subject: "importer jobs share format"},
		"how long was the README before it was cut to 250 lines":            {Kind: AsksBefore, Subject: "README", New: "cut 250 lines"},
		"in the past how did we do backups":                                 {Kind: AsksEarlier, Subject: "backups"},
		"in former times where were logs kept":                              {Kind: AsksEarlier, Subject: "logs"},
		"who has replaced Marta as CTO":                                     {Kind: AsksAfter, Old: "Marta CTO"},
		"who replaced MySQL with Postgres":                                  {Kind: AsksWho, Subject: "MySQL", New: "Postgres"},
		"who is the successor of Marta":                                     {Kind: AsksAfter, Old: "Marta"},
		"after Redis what did we use":                                       {Kind: AsksAfter, Old: "Redis"},
		"when we moved to malmö?":                                           {Kind: AsksSince, New: "malmö"},
		"when came Deepak":                                                  {Kind: AsksSince, Subject: "Deepak"},
		"how long are we on Kubernetes":                                     {Kind: AsksSince, Subject: "Kubernetes"},
		"when did the region last change":                                   {Kind: AsksSince, Subject: "region"},
		"did somebody named Chidi ever was on call":                         {Kind: AsksEver, Subject: "Chidi call"},
		"how many design leads have we had":                                 {Kind: AsksAll, Subject: "design leads"},
		"are we still paying for Opsgenie":                                  {Kind: AsksStill, Subject: "Opsgenie"},
		"Jenkins still in use?":                                             {Kind: AsksStill, Subject: "Jenkins"},
		"why don't we use Jenkins any more":                                 {Kind: AsksWhy, Subject: "Jenkins"},
		"what made us switch to Buildkite":                                  {Kind: AsksWhy, New: "Buildkite"},
		"why we moved from Jenkins to Buildkite":                            {Kind: AsksWhy, Old: "Jenkins", New: "Buildkite"},
		"old frontend framework":                                            {Kind: AsksEarlier, Subject: "frontend framework"},
	} {
		p, ok := ReadPast(text, clock, clock)
		p.Cue = ""
		if ok != (want.Kind != "") || ok && !reflect.DeepEqual(p, want) {
			t.Errorf("%q: %v\n got  %+v\n want %+v", text, ok, p, want)
		}
	}
}

func TestPeriodsOfChange(t *testing.T) {
	for text, want := range map[string]string{
		"what changed in the first half of August 2026":      "2026-08-01 2026-08-15 ",
		"what changed in September 2026":                     "2026-09-01 2026-09-30 ",
		"what was decided in July":                           "2026-07-01 2026-07-31 ",
		"what did we decide about the frontend in July 2026": "2026-07-01 2026-07-31 frontend",
		"what's new since 2026-09-01?":                       "2026-09-01  ",
		"what has changed since Monday":                      "2026-11-23  ",
		"what changed last week":                             "2026-11-16 2026-11-22 ",
		"what changed in the last three weeks":               "2026-11-07  ",
		"what changed between 2026-07-20 and 2026-08-05":     "2026-07-20 2026-08-05 ",
		"which decisions were made in spring 2026":           "2026-03-01 2026-04-15 ",
		"what changed recently in hosting":                   "2026-11-14  hosting",
		"what happened before March 2026":                    " 2026-02-28 ",
		"what changed since the move to Postgres":            "  ",
		"what changed": "none",
		"what was the rate limit changed to in June 2026":       "none",
		"please tell me what was new in April 2026":             "2026-04-01 2026-04-30 ",
		"did anything change last week":                         "2026-11-16 2026-11-22 ",
		"what did I miss since Monday":                          "2026-11-23  ",
		"who writes what changed into the changelog in January": "none",
	} {
		p, ok := ReadPast(text, clock, clock)
		day := func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format(time.DateOnly)
		}
		got := "none"
		if ok && p.Kind == AsksChanges {
			got = day(p.From) + " " + day(p.Until) + " " + p.Subject
		}
		if got != want {
			t.Errorf("%q: %q, want %q (%+v)", text, got, want, p)
		}
	}
}

// TestThePresentIsNotThePast: such words in a question about what is, in a title or a quotation, ask of no other time.
func TestThePresentIsNotThePast(t *testing.T) {
	for _, text := range []string{
		"what has to run before the deploy?", "what do we do after a deploy", "what is the first step of a review", "what happens on first login", "what runs once a week",
		"until when does v1 answer?", "how many days does the order history show", "which port does the gateway listen on", "who leads the backend team", "who owns billing", "what must I do before I push",
		"what did the film Before Sunrise cost", "where is 'Since when' defined", "how long is a session", "how often do we release", "when do we deploy", "when is the handover", "each address gets it only once",
		"is each mail sent once or twice", "what is the name of the queue", "where are metrics over time stored", "from which offset are events replayed", "", "before", "since when", "when did", "who said", "still", "what was", "did we ever",
		"how are dates written", "what does undo restore", "which database do we use now", "what database did we use in March 2026", strings.Repeat("what did we use before Postgres ", 2100), "\xff\xfe before \xff", "前に何を使っていましたか",
		"what about the table of former customers", "which table is for former customers", "what replaces the old tokens", "how many retries are there before giving up", "who is the replacement driver for", "is the parameter since inclusive",
		"which people are on the previous shift list", "when we deploy, who watches", "what do we need before the release", "when do we stop accepting orders", "how long do sessions live",
	} {
		if p, ok := ReadPast(text, clock, clock); ok {
			t.Errorf("%.80q: %+v", text, p)
		}
	}
}

// TestAnOrdinaryQuestionCompilesFewForms: a command compiles each form anew, and all of them take longer than the answer.
func TestAnOrdinaryQuestionCompilesFewForms(t *testing.T) {
	for _, text := range []string{"which billing provider do we use", "who owns the ledger", "where do we store pictures now", "how many retries do we use"} {
		n := 0
		for _, f := range pastForms() {
			if f.mayFit(Words(text)) {
				n++
			}
		}
		if n > 8 {
			t.Errorf("%q: %d of %d forms", text, n, len(pastForms()))
		}
	}
}
