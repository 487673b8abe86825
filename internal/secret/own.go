package secret

// Parts of the expressions of rules.
const (
	// argument is a word of a command line, without its quotes and the marks of a sentence.
	argument     = `(?:'([^']{1,256})'|"([^"]{1,256})"|([^\s'"\x60;|&]*[^\s'"\x60;|&.,:)\]}]))`
	mysqlCommand = `(?:mysql(?:dump|admin|import|sh)?|mariadb(?:-dump)?)`
	// passwordNamed is an identifier that ends with a word for a password, and is no parameter of a URL.
	passwordNamed = `(?i)(?:^|[^\w.?&-])[\w.-]*?(?:password|passwd|passphrase|pwd|passwort|kennwort)["']?`
	unquoted      = `([^\x00-\x20,;"'\x60\\]*[^\x00-\x20,;"'\x60\\.:)\]}])`
	parameter     = `([^\x00-\x20&;#"'\x60<>)\]},|]`
	urlHost       = `@(?:[\w\[${<]|[^\x00-\x7f])`
	pemBegin      = `(?i)-----BEGIN[ A-Z0-9]*PRIVATE KEY(?: BLOCK)?-----`
	// The entry may be quoted in a sentence.
	netrcPassword = `password\s+["'\x60]?(\S+?)(?:["'\x60]+[.,;:)\]}]*)?(?:\s|$)`
	base64Run     = `[A-Za-z0-9+/=]{16}`
	// spoken is what stands between a password's name and its value in a sentence.
	spoken = `(?i)\b(?:password|passwd|passphrase|passcode|pwd|passwort|kennwort)(?:[ \t]+(?:for|of|für|to|on|in|at)(?:[ \t]+[\w.@-]+){1,4}?)?[ \t]+(?:is|was|are|ist|=)(?:[ \t]+(?:now|still|set to|currently|always))?[ \t]*:?[ \t]+`
	// pemBase64 is PRIVATE KEY in base64, wherever it begins.
	pemBase64   = `(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)`
	base64Lines = `[A-Za-z0-9+/=_-]*(?:(?:\r?\n|\\r?\\n|\\n)[ \t]*[A-Za-z0-9+/=_-]{16,})*`
)

// ownRules are what gitleaks has not, or has for whole source files only. Only ever read.
var ownRules = [...]rule{
	// From BEGIN to END; without an END all that can be a key. A header without a key is left.
	{id: "private-key", form: anywhere, triggers: []string{"-----begin"}, body: pemBegin + `(?:` +
		`(?:-{0,4}[^-])*` + base64Run + `(?:-{0,4}[^-])*-----END[^-\n]*-----|` +
		`(?:-{0,4}[A-Za-z0-9+/= \t\r\n\\"',:.>])*` + base64Run + `)`},
	// Every password, also "password": a database that is open to it is no less open.
	{id: "url-password", form: inLine, triggers: []string{"://"}, is: isReal,
		body: `\w://[^\x00-\x20/?"'\x60\\|:]*:([^\x00-\x20/?"'\x60\\|]+)` + urlHost},
	{id: "url-token", form: inLine, triggers: []string{"://"}, body: `\w://([\w-]{20,})` + urlHost, entropy: 3, is: userToken},
	{id: "url-parameter", form: inLine, triggers: []string{"password=", "passwd=", "pwd="}, broad: 1, is: isReal,
		body: `(?i)[?&][\w-]*(?:password|passwd|pwd)=` + parameter + `{4,})`},
	{id: "url-parameter", form: inLine, triggers: []string{"token=", "secret=", "key=", "sig=", "signature="}, broad: 1, is: parameterValue,
		body: `(?i)[?&][\w-]*(?:token|secret|key|sig|signature)=` + parameter + `{12,})`},
	// A value in quotes or directly after '=' is one for sure; else it must look like a password.
	{id: "password-assignment", form: inLine, triggers: passwordWords, broad: 2, is: surePassword,
		body: passwordNamed + `[ \t]*[=:>]{1,3}[ \t]*(?:"([^"\s]+)"|'([^'\s]+)'|\x60([^\x60\s]+)\x60)`},
	{id: "password-assignment", form: inLine, triggers: passwordWords, broad: 2, is: surePassword, body: passwordNamed + `[=:>]{0,2}=` + unquoted},
	{id: "password-assignment", form: inLine, triggers: passwordWords, broad: 2, is: likelyPassword,
		body: passwordNamed + `[ \t]*[=:>]{1,3}[ \t]*` + unquoted},
	// A pass is something else outside of a file of environment variables.
	{id: "password-assignment", form: inLine, triggers: []string{"_pass="}, broad: 2, is: surePassword, body: `(?:^|[^\w.?&-])[A-Z0-9_]*_PASS=["']?` + unquoted},
	// Of letters alone only as in a file of environment variables.
	{id: "password-assignment", form: inLine, triggers: passwordWords, broad: 2, is: passwordWord,
		body: `(?:^|[^\w.?&-])[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE)=["']?([A-Za-z]{6,64})` + following},
	// The entry of a .netrc file; without the machine it must look like a password.
	{id: "netrc-password", form: anywhere, triggers: []string{"login"}, is: isReal,
		body: `(?i)(?:\bmachine\s+\S+|\bdefault)\s+login\s+\S+\s+` + netrcPassword},
	{id: "netrc-password", form: anywhere, triggers: []string{"login"}, is: surePassword, body: `(?i)\blogin\s+\S+\s+` + netrcPassword},
	{id: "command-password", form: inLine, triggers: []string{"--password="}, broad: 1, is: isReal, body: `(?:^|[\s"'\x60])--(?i:password)=` + argument},
	{id: "command-password", form: prefixed, triggers: []string{"-p"}, command: mysqlCommand, broad: 1, is: isReal, body: `-p` + argument},
	{id: "curl-password", form: prefixed, triggers: []string{"-u", "--user"}, command: "curl", broad: 1, is: isReal,
		body: `(?:-u|--user)[\s=]*(?:'[^':]*:([^']+)'|"[^":]*:([^"]+)"|[^\s'"\x60;|&:]*:([^\s'"\x60;|&]*[^\s'"\x60;|&.,:)\]}]))`},
	{id: "command-password", form: prefixed, triggers: []string{"-p"}, command: `(?:sshpass|(?:docker|podman|nerdctl|oc|az)\s+login|mongosh?|mongodump|mongorestore|sqlcmd)`, broad: 1, is: isReal, body: `-[pP][ \t=]*` + argument},
	{id: "command-password", form: prefixed, triggers: []string{"-w"}, command: `ldap(?:search|add|modify|delete|modrdn|passwd|whoami|compare|exop)`, broad: 1, is: isReal, body: `-w[ \t=]*` + argument},
	{id: "command-password", form: prefixed, triggers: []string{"-a"}, command: `redis-cli`, broad: 1, is: isReal, body: `-a[ \t]*` + argument},
	{id: "redis-password", form: anywhere, triggers: redisPasswords, broad: 1, is: isReal,
		body: `(?im)^[ \t]*(?:#[ \t]*)?(?:requirepass|masterauth|primaryauth)[ \t=]+["']?([^\s"']+)["']?[ \t]*$|(?:--|config[ \t]+set[ \t]+)(?:requirepass|masterauth|primaryauth)[ \t=]+["']?([^\s"']*[^\s"'.,;:)\x60])`},
	{id: "redis-password", form: prefixed, triggers: redisPasswords, start: true, broad: 1, is: spokenPassword, body: `(?i)(?:requirepass|masterauth|primaryauth)["']?(?:[ \t]*[=:][ \t]*|[ \t]+)` + argument},
	// In a sentence: what is in quotes, or what is no word.
	{id: "spoken-password", form: inLine, triggers: passwordWords, broad: 2, is: quotedPassword, body: spoken + `(?:"([^"\s]{4,})"|'([^'\s]{4,})'|\x60([^\x60\s]{4,})\x60|“([^”\s]{4,})”)`},
	{id: "spoken-password", form: inLine, triggers: passwordWords, broad: 2, is: spokenPassword, body: spoken + unquoted},
	{id: "private-key", form: anywhere, triggers: []string{"ufjjvkfursblrv", "bssvzbveugs0vz", "quklwqvrfietfw"}, body: `[A-Za-z0-9+/_-]*` + pemBase64 + base64Lines},
	// What its name says is a secret.
	{id: "generic-api-key", form: named, triggers: nameWords, broad: 3},
	{id: "session-cookie", form: inLine, triggers: []string{"connect.sid=", "sessionid=", "session_id=", "sessid=", "_session=", "session-token=", "session_token=", "jsessionid=", "sid=", "remember_token="}, broad: 2, is: cookieValue,
		body: `(?i)[\w.-]*(?:connect\.sid|sess(?:ion)?[_-]?id|_session|session[_-]token|remember_token|\bsid)=["']?([^\x00-\x20;"'\x60,)\]}<&]{16,})`},
	{id: "django-secret-key", form: prefixed, triggers: []string{"django-insecure-"}, body: `(?i)django-insecure-[a-z0-9!@#$%^&*(\-_=+)]{20,}`},
	{id: "django-secret-key", form: prefixed, triggers: []string{"secret_key"}, broad: 1, is: djangoKey, body: `(?i)SECRET_KEY["'\]]{0,2}[ \t]*[:=][ \t]*["']?([a-z0-9!@#$%^&*(\-_=+)]{40,})`},
	{id: "tailscale-key", form: prefixed, triggers: []string{"tskey-"}, body: `tskey-(?:[a-z]+-)?[A-Za-z0-9]{6,}(?:-[A-Za-z0-9]{10,})?`, start: true},
	{id: "langsmith-api-key", form: prefixed, triggers: []string{"lsv2_", "ls__"}, body: `lsv2_[a-z]{2}_[a-f0-9]{32}_[a-f0-9]{8,}|ls__[a-f0-9]{32}`, start: true},
	{id: "resend-api-key", form: prefixed, triggers: []string{"re_"}, body: `re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,40}\b`, start: true, is: looksRandom},
	{id: "netlify-access-token", form: prefixed, triggers: []string{"nfp_", "nfc_", "nfo_", "nfu_", "nfb_"}, body: `nf[pcoub]_[A-Za-z0-9]{30,}`, start: true},
	{id: "vercel-token", form: prefixed, triggers: []string{"vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"}, body: `vc[piark]_[A-Za-z0-9]{24,}|vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{20,}`, start: true},
	{id: "buildkite-token", form: prefixed, triggers: []string{"bkua_", "bkct_", "bkat_", "bkaj_", "bkpt_", "bkps_"}, body: `bk(?:ua|ct|at|aj|pt|ps)_[A-Za-z0-9_-]{20,}`, start: true},
	// The first part is a number in base64, the second six characters.
	{id: "huggingface-access-token", form: prefixed, triggers: []string{"hf_"}, body: `hf_[A-Za-z0-9]{34}\b`, start: true, is: looksRandom},
	// The seed of an nkey, as a team's token is: S, a letter for its kind, and base32.
	{id: "nkey-seed", form: anywhere, triggers: nkeySeeds, body: `\bS[UAONCX][A-Z2-7]{56}\b`},
	{id: "discord-bot-token", form: dotted, body: `[MNO][TDjz][AEIMQUYcgk][w-z0-5][\w-]{18,26}\.[\w-]{6}\.[\w-]{25,}`},
	{id: "bearer-token", form: prefixed, triggers: []string{"bearer"}, body: `(?i)bearer[ \t]+([\w.~+/=-]{19,}[\w~+/=-])`, start: true, broad: 1, is: random},
	{id: "basic-auth", form: prefixed, triggers: []string{"authorization"}, body: `(?i)authorization["']?\s*[:=]\s*["']?basic\s+([a-z0-9+/]{8,}={0,2})`},
	// OpenAI, Anthropic, OpenRouter, DeepSeek and others.
	{id: "sk-api-key", form: prefixed, triggers: []string{"sk-"}, body: `(?i)sk-[\w-]{20,}`, start: true, broad: 1, is: random},
	{id: "aws-secret-access-key", form: assigned, triggers: []string{"secret"},
		head: `(?i:secret[_ -]?(?:access[_ -]?)?key)`, body: `[A-Za-z0-9/+]{40}`, entropy: 3.5},
	{id: "azure-storage-key", form: prefixed, triggers: []string{"accountkey="}, body: `(?i)AccountKey=([A-Za-z0-9+/]{86}==)`},
	{id: "discord-webhook", form: prefixed, triggers: []string{"discord"}, body: `(?i)discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{5,30}/([\w-]{60,80})`},
	{id: "telegram-bot-token", form: anywhere, triggers: []string{":aa"}, body: `(?:^|[^0-9])([0-9]{8,10}:AA[\w-]{33})(?:[^\w-]|$)`},
	{id: "google-oauth-secret", form: prefixed, triggers: []string{"gocspx-"}, body: `GOCSPX-[\w-]{28}`, start: true},
	{id: "google-oauth-token", form: prefixed, triggers: []string{"ya29."}, body: `ya29\.[\w-]{20,}`, start: true},
	{id: "docker-token", form: prefixed, triggers: []string{"dckr_pat_", "dckr_oat_"}, body: `dckr_[po]at_[\w-]{20,}`, start: true},
	{id: "groq-api-key", form: prefixed, triggers: []string{"gsk_"}, body: `gsk_[A-Za-z0-9]{40,}`, start: true},
	{id: "xai-api-key", form: prefixed, triggers: []string{"xai-"}, body: `xai-[A-Za-z0-9]{60,}`, start: true},
	{id: "replicate-api-token", form: prefixed, triggers: []string{"r8_"}, body: `r8_[A-Za-z0-9]{37}`, start: true},
	{id: "supabase-key", form: prefixed, triggers: []string{"sbp_", "sb_secret_"}, body: `sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}`, start: true},
	{id: "stripe-webhook-secret", form: prefixed, triggers: []string{"whsec_"}, body: `whsec_[A-Za-z0-9+/]{24,}={0,2}`, start: true},
	{id: "figma-token", form: prefixed, triggers: []string{"figd_"}, body: `figd_[\w-]{30,}`, start: true},
}

var redisPasswords = []string{"requirepass", "masterauth", "primaryauth"}

var passwordWords = []string{"password", "passwd", "passphrase", "pwd", "passwort", "kennwort"}

// nkeySeeds are the beginnings of seeds, in lower case.
var nkeySeeds = []string{"su", "sa", "so", "sn", "sc", "sx"}
