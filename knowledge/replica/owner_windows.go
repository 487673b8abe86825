package replica

import (
	"os"
)

const readFlags = os.O_RDONLY
