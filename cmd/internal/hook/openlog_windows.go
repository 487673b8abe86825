package hook

// noFollow has no flag on Windows, where only an administrator makes links: logProblem looks for one.
const noFollow = 0
