package secret

// Parts of the expressions of rules.
const (
	// argument is a word of a command line, without its quotes and the marks of a sentence.
	argument     = `(?:'([^']{1,256})'|"([^"]{1,256})"|([^\s'"\x60;|&]*[^\s'"\x60;|&.,:)\]}]))`
	mysqlCommand = `(?:mysql(?:dump|admin|import|sh)?|mariadb(?:-dump)?)`
	// passwordNamed is an identifier that ends with a word for a password, and is no parameter of a URL.
	passwordNamed = `(?i)(?:^|[^\w.?&-])[\w.-]*?(?:password|passwd|passphrase|pwd)["']?`
	unquoted      = `([^\x00-\x20,;"'\x60\\]*[^\x00-\x20,;"'\x60\\.:)\]}])`
	parameter     = `([^\x00-\x20&;#"'\x60<>)\]},|]`
	urlHost       = `@(?:[\w\[${<]|[^\x00-\x7f])`
	pemBegin      = `(?i)-----BEGIN[ A-Z0-9]*PRIVATE KEY(?: BLOCK)?-----`
	// The entry may be quoted in a sentence.
	netrcPassword = `password\s+["'\x60]?(\S+?)(?:["'\x60]+[.,;:)\]}]*)?(?:\s|$)`
	base64Run     = `[A-Za-z0-9+/=]{16}`
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

var passwordWords = []string{"password", "passwd", "passphrase", "pwd"}
