// Creates a rule, sends an event under a key of its own, waits for the outcome, and handles a refusal.
//
//	RULES_URL=http://127.0.0.1:3000 RULES_API_KEY=ark_... go run .
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"strconv"
	"time"

	"example.com/automation-rules/rules"
)

type object = map[string]any

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := rules.New(os.Getenv("RULES_URL"), os.Getenv("RULES_API_KEY"))

	created, err := client.CreateRule(ctx, object{
		"name":       "Hot leads (Go)",
		"trigger":    "LEAD_CREATED",
		"conditions": []object{{"field": "score", "operator": "greater_than", "value": 80}},
		"actions":    []object{{"type": "CREATE_TASK", "config": object{"title": "Call {{name}}"}}},
	}, nil)
	check(err)
	var rule struct {
		ID string `json:"id"`
	}
	check(created.Decode(&rule))

	id, err := triggerOnce(ctx, client, "LEAD_CREATED", object{"name": "Ada", "score": 95})
	check(err)
	statuses, err := waitUntilDone(ctx, client, id, rule.ID)
	check(err)
	fmt.Println(statuses)

	listed, err := client.ListTasks(ctx, url.Values{"ruleId": {rule.ID}})
	check(err)
	var page struct {
		Tasks []struct {
			Title string `json:"title"`
		} `json:"tasks"`
	}
	check(listed.Decode(&page))
	for _, task := range page.Tasks {
		fmt.Println(task.Title)
	}

	_, err = client.PostEvent(ctx, object{"eventType": "LEAD_CRATED", "data": object{}}, nil, nil)
	var refused *rules.APIError
	if errors.As(err, &refused) {
		fmt.Println("refused:", refused)
	}
}

// triggerOnce sends the event until there is a response. The key makes it one event, however often it is sent.
func triggerOnce(ctx context.Context, client *rules.Client, eventType string, data object) (string, error) {
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		return "", err
	}
	headers := map[string]string{"Idempotency-Key": hex.EncodeToString(key), "Prefer": "respond-async"}
	for attempt := 0; ; attempt++ {
		response, err := client.PostEvent(ctx, object{"eventType": eventType, "data": data}, nil, headers)
		if err == nil {
			var accepted struct {
				ID string `json:"id"`
			}
			err = response.Decode(&accepted)
			return accepted.ID, err
		}
		wait := 200 * time.Millisecond << attempt
		var refused *rules.APIError
		if errors.As(err, &refused) {
			if refused.Status != 429 && (refused.Status < 502 || refused.Status > 504) {
				return "", err
			}
			seconds, _ := strconv.Atoi(refused.RetryAfter)
			wait += time.Duration(seconds) * time.Second
		}
		if attempt == 4 {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(wait):
		}
	}
}

// waitUntilDone returns the statuses of the rule's results.
func waitUntilDone(ctx context.Context, client *rules.Client, eventID, ruleID string) ([]string, error) {
	for {
		response, err := client.GetEvent(ctx, eventID)
		if err != nil {
			return nil, err
		}
		var event struct {
			Status  string `json:"status"`
			Results []struct {
				RuleID string `json:"ruleId"`
				Status string `json:"status"`
			} `json:"results"`
		}
		if err := response.Decode(&event); err != nil {
			return nil, err
		}
		if event.Status == "done" || event.Status == "quarantined" {
			statuses := []string{}
			for _, result := range event.Results {
				if result.RuleID == ruleID {
					statuses = append(statuses, result.Status)
				}
			}
			return statuses, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
