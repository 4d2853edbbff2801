"""Creates a rule, sends an event under a key of its own, waits for the outcome, and handles a refusal.

RULES_URL=http://127.0.0.1:3000 RULES_API_KEY=ark_... python3 send_event.py
"""

import os
import time
import uuid

from rules import ApiError, Client


def trigger_once(client, event_type, data):
    """Sends the event until there is a response. The key makes it one event, however often it is sent."""
    headers = {"idempotency-key": str(uuid.uuid4()), "prefer": "respond-async"}
    for attempt in range(5):
        try:
            return client.post_event(body={"eventType": event_type, "data": data}, headers=headers)
        except ApiError as error:
            if error.status not in (429, 502, 503, 504) or attempt == 4:
                raise
            time.sleep(int(error.retry_after or 0) + 0.2 * 2**attempt)
        except OSError:
            if attempt == 4:
                raise
            time.sleep(0.2 * 2**attempt)


def wait_until_done(client, event_id, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        event = client.get_event(event_id)
        if event["status"] in ("done", "quarantined"):
            return event
        time.sleep(0.2)
    raise TimeoutError(f"event {event_id} is not done after {seconds} s")


client = Client(os.environ["RULES_URL"], os.environ["RULES_API_KEY"])
rule = client.create_rule(
    body={
        "name": "Hot leads (Python)",
        "trigger": "LEAD_CREATED",
        "conditions": [{"field": "score", "operator": "greater_than", "value": 80}],
        "actions": [{"type": "CREATE_TASK", "config": {"title": "Call {{name}}"}}],
    }
)
accepted = trigger_once(client, "LEAD_CREATED", {"name": "Ada", "score": 95})
event = wait_until_done(client, accepted["id"])
print([result["status"] for result in event["results"] if result["ruleId"] == rule["id"]])
print([task["title"] for task in client.list_tasks(query={"ruleId": rule["id"]})["tasks"]])
try:
    client.post_event(body={"eventType": "LEAD_CRATED", "data": {}})
except ApiError as error:
    print("refused:", error)
