package transcript

// noFollow has no flag on Windows, where only an administrator makes links: open looks for one.
const noFollow = 0
