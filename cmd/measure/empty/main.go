// Empty does nothing. What a process costs at the least is the floor of the
// benchmark's commands.
package main

func main() {}
