package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"leanctx/internal/prose"
)

// No answer over MCP has more than its bound, in text and in JSON, and one that was cut says what is
// missing and how to have it.
func TestAnswersOverMCPAreBounded(t *testing.T) {
	home(t)
	c := dial(t, serving(t), "")
	me := c.register("cursor", "dev")
	long := strings.Repeat("the database of the shop <b>keeps</b> orders. ", 1300)
	for i := range 12 {
		c.must("ctx_knowledge", fmt.Sprintf(`{"action":"remember","category":"data","key":"database-%d","value":%q}`, i, fmt.Sprint(i, " ", long)))
		c.must("ctx_agent", fmt.Sprintf(`{"action":"diary","agent":%q,"category":"discovery","message":%q}`, me, fmt.Sprint(i, " database ", long)))
	}
	for _, call := range []struct{ tool, args string }{
		{"ctx_recall", `{"action":"recall","category":"data"}`}, {"ctx_recall", `{"action":"recall","query":"database of the shop"}`},
		{"ctx_recall", `{"action":"timeline","category":"data"}`}, {"ctx_recall", `{"action":"search","query":"database"}`},
		{"ctx_knowledge", `{"action":"export"}`}, {"ctx_agent", `{"action":"recall_diary","agent_id":"` + me + `"}`},
	} {
		text := c.must(call.tool, call.args)
		if len(text) > prose.MaxAnswer || !strings.Contains(text, "cut to 60,000 bytes") || !strings.Contains(text, ": lean-ctx ") {
			t.Errorf("%s: %d bytes: … %s", call.args, len(text), text[max(0, len(text)-300):])
		}
		text = c.must(call.tool, strings.Replace(call.args, "{", `{"output":"json",`, 1))
		if len(text) > prose.MaxAnswer || !json.Valid([]byte(text)) || !strings.Contains(text, `"cut":`) {
			t.Errorf("%s as JSON: %d bytes, valid: %v", call.args, len(text), json.Valid([]byte(text)))
		}
	}
	if text := c.call("ctx_recall", fmt.Sprintf(`{"action":%q}`, long)); len(text) > prose.MaxAnswer {
		t.Errorf("an error of %d bytes", len(text))
	}
	text := c.must("ctx_recall", `{"action":"recall","category":"data","key":"database-3","output":"json"}`)
	if !strings.Contains(text, `"cut":`) {
		t.Error("a value over the bound is whole")
	}
}

// What was not given stays unread, and the next read gives it.
func TestMessagesBeyondTheBoundStayUnread(t *testing.T) {
	home(t)
	s := serving(t)
	one, two := dial(t, s, ""), dial(t, s, "")
	one.register("cursor", "dev")
	two.register("claude", "review")
	for i := range 5 {
		one.must("ctx_agent", fmt.Sprintf(`{"action":"post","to_agent":"claude","message":%q}`, fmt.Sprintf("number %d. %s", i, strings.Repeat("long ", 6000))))
	}
	one.must("ctx_agent", fmt.Sprintf(`{"action":"handoff","to_agent":"claude","message":%q}`, "handed over. "+strings.Repeat("much ", 8000)))
	var all strings.Builder
	for range 8 {
		text := two.must("ctx_agent", `{"action":"read"}`)
		if len(text) > prose.MaxAnswer {
			t.Errorf("%d bytes", len(text))
		}
		all.WriteString(text)
		if text == "No new messages." {
			break
		}
	}
	for i := range 5 {
		if strings.Count(all.String(), fmt.Sprintf("number %d.", i)) != 1 {
			t.Errorf("message %d was given %d times", i, strings.Count(all.String(), fmt.Sprintf("number %d.", i)))
		}
	}
	if strings.Count(all.String(), "handed over.") != 1 || strings.Count(all.String(), "long") != 5*6000 || strings.Count(all.String(), "read again") < 3 {
		t.Errorf("%d handoffs, %d words", strings.Count(all.String(), "handed over."), strings.Count(all.String(), "long "))
	}
}

// No number of any argument makes a panic or an overflow.
func TestHugeNumbersAreRefused(t *testing.T) {
	home(t)
	c := dial(t, serving(t), "")
	c.must("ctx_knowledge", `{"action":"remember","category":"a","key":"b","value":"c"}`)
	for _, tool := range newStores(configured(t), nil).tools() {
		for _, o := range tool.Operations {
			for _, p := range o.Params {
				if p.Type != "integer" {
					continue
				}
				for _, n := range []string{"9223372036854775807", "-9223372036854775808", "1e18", "9223372036854775808", "1099511627776"} {
					args := map[string]any{}
					maps.Copy(args, o.Example)
					if args[p.Name] = json.Number(n); o.Name != "" {
						args["action"] = o.Name
					}
					text, err := json.Marshal(args)
					if err != nil {
						t.Fatal(err)
					}
					if got := c.call(tool.Name, string(text)); strings.Contains(got, "internal error") {
						t.Errorf("%s: %s", text, got)
					}
				}
			}
		}
	}
}
