"""A client of the automation-rules API, generated from docs/openapi.json by examples/generate.mjs. Do not edit it."""

import json
import urllib.error
import urllib.parse
import urllib.request


class ApiError(Exception):
    """An error response. A lost connection is an OSError: repeat only what has an Idempotency-Key."""

    def __init__(self, status, body, headers):
        super().__init__(f"{status}: {body.get('error') or body.get('errors') or 'not an answer of the API'}")
        self.status = status
        self.errors = body.get("errors")
        self.request_id = headers.get("x-request-id")
        self.retry_after = headers.get("retry-after")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Client:
    """Each method is one operation. It returns the body of the response as dicts and lists."""

    def __init__(self, base_url, token, workspace_id=None, timeout=30):
        self._base_url = base_url.rstrip("/")
        self._headers = {"accept": "application/json", "authorization": f"Bearer {token}"}
        if workspace_id is not None:
            self._headers["x-workspace-id"] = workspace_id
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirects())

    def _send(self, method, path, body=None, query=None, headers=None):
        url = self._base_url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        typed = {} if content is None else {"content-type": "application/json"}
        request = urllib.request.Request(
            url, data=content, headers={**self._headers, **typed, **(headers or {})}, method=method
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                text = response.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, _parse(error.read()), error.headers) from None

    def get_liveness(self):
        """Check whether the process is alive."""
        return self._send("GET", "/healthz")

    def get_readiness(self):
        """Check whether the process can serve requests."""
        return self._send("GET", "/readyz")

    def list_rules(self, query=None):
        """List rules, newest first."""
        return self._send("GET", "/api/automation-rules", query=query)

    def create_rule(self, body=None, headers=None):
        """Create a rule."""
        return self._send("POST", "/api/automation-rules", body=body, headers=headers)

    def get_rule(self, id):
        """Get a rule."""
        return self._send("GET", f"/api/automation-rules/{_part(id)}")

    def update_rule(self, id, body=None, headers=None):
        """Update any subset of the fields of a rule."""
        return self._send("PUT", f"/api/automation-rules/{_part(id)}", body=body, headers=headers)

    def patch_rule(self, id, body=None, headers=None):
        """Update any subset of the fields of a rule, like PUT."""
        return self._send("PATCH", f"/api/automation-rules/{_part(id)}", body=body, headers=headers)

    def delete_rule(self, id, headers=None):
        """Delete a rule permanently."""
        return self._send("DELETE", f"/api/automation-rules/{_part(id)}", headers=headers)

    def clone_rule(self, id, headers=None):
        """Clone a rule. The clone is inactive."""
        return self._send("POST", f"/api/automation-rules/{_part(id)}/clone", headers=headers)

    def toggle_rule(self, id, headers=None):
        """Toggle a rule between active and inactive."""
        return self._send("PATCH", f"/api/automation-rules/{_part(id)}/toggle", headers=headers)

    def activate_rule(self, id, headers=None):
        """Switch a rule on. An active rule stays active."""
        return self._send("POST", f"/api/automation-rules/{_part(id)}/activate", headers=headers)

    def deactivate_rule(self, id, headers=None):
        """Switch a rule off. An inactive rule stays inactive."""
        return self._send("POST", f"/api/automation-rules/{_part(id)}/deactivate", headers=headers)

    def list_rule_versions(self, id, query=None):
        """List the versions of a rule, newest first."""
        return self._send("GET", f"/api/automation-rules/{_part(id)}/versions", query=query)

    def get_rule_version(self, id, version):
        """Get a version of a rule."""
        return self._send("GET", f"/api/automation-rules/{_part(id)}/versions/{_part(version)}")

    def restore_rule_version(self, id, version, headers=None):
        """Restore a previous version of a rule as a new version."""
        return self._send("POST", f"/api/automation-rules/{_part(id)}/versions/{_part(version)}/restore", headers=headers)

    def export_rules(self, query=None):
        """Export rules and email templates as a file."""
        return self._send("GET", "/api/automation-rules/export", query=query)

    def import_rules(self, body=None, headers=None):
        """Change rules and email templates to match a file: all of it, or nothing."""
        return self._send("POST", "/api/automation-rules/import", body=body, headers=headers)

    def validate_rule(self, body=None):
        """Validate a rule without saving it."""
        return self._send("POST", "/api/automation-rules/validate", body=body)

    def create_backtest(self, body=None, headers=None):
        """Compute what a rule would have done for past events. Nothing is executed."""
        return self._send("POST", "/api/automation-rules/backtests", body=body, headers=headers)

    def list_backtests(self, query=None):
        """List the backtests of the last 30 days, newest first."""
        return self._send("GET", "/api/automation-rules/backtests", query=query)

    def get_backtest(self, id):
        """Get the progress of a backtest and its report so far."""
        return self._send("GET", f"/api/automation-rules/backtests/{_part(id)}")

    def cancel_backtest(self, id):
        """Cancel a backtest. The report so far stays."""
        return self._send("DELETE", f"/api/automation-rules/backtests/{_part(id)}")

    def save_rule_draft(self, id, body=None, headers=None):
        """Save the draft of a rule. It is validated like a rule, and does nothing until it is promoted."""
        return self._send("PUT", f"/api/automation-rules/{_part(id)}/draft", body=body, headers=headers)

    def get_rule_draft(self, id, headers=None):
        """Get the draft of a rule, and what it would have done since it was saved."""
        return self._send("GET", f"/api/automation-rules/{_part(id)}/draft", headers=headers)

    def delete_rule_draft(self, id, headers=None):
        """Delete the draft of a rule."""
        return self._send("DELETE", f"/api/automation-rules/{_part(id)}/draft", headers=headers)

    def promote_rule_draft(self, id, body=None, headers=None):
        """Promote the draft to the next version of its rule, optionally with a guard."""
        return self._send("POST", f"/api/automation-rules/{_part(id)}/draft/promote", body=body, headers=headers)

    def get_rule_difference(self, id, headers=None):
        """Get what a rule in shadow mode would have done since its last change."""
        return self._send("GET", f"/api/automation-rules/{_part(id)}/difference", headers=headers)

    def get_rule_health(self):
        """Get the health of all rules."""
        return self._send("GET", "/api/automation-rules/health")

    def list_rules_needing_attention(self):
        """List the rules that need attention, latest first."""
        return self._send("GET", "/api/automation-rules/attention")

    def get_rules_overview(self, query=None):
        """Count the executions of each rule by time, and show which rules need attention."""
        return self._send("GET", "/api/automation-rules/overview", query=query)

    def list_rule_summaries(self, query=None):
        """List rules without their conditions and actions, newest first."""
        return self._send("GET", "/api/automation-rules/summaries", query=query)

    def get_rule_group(self, name):
        """Get the rules of a group in their order."""
        return self._send("GET", f"/api/automation-rules/groups/{_part(name)}")

    def reorder_rule_group(self, name, body=None, headers=None):
        """Put the rules of a group into an order."""
        return self._send("PUT", f"/api/automation-rules/groups/{_part(name)}", body=body, headers=headers)

    def get_rule_schedule(self, id, query=None):
        """Get the next times at which a rule runs by its schedule."""
        return self._send("GET", f"/api/automation-rules/{_part(id)}/schedule", query=query)

    def get_rule_guard(self, id):
        """Get the guard of a promoted version."""
        return self._send("GET", f"/api/automation-rules/{_part(id)}/guard")

    def end_rule_guard(self, id, headers=None):
        """End the guard of a promoted version early."""
        return self._send("DELETE", f"/api/automation-rules/{_part(id)}/guard", headers=headers)

    def list_rollouts(self, query=None):
        """List the rules that have a draft or a guard, newest first."""
        return self._send("GET", "/api/automation-rules/rollouts", query=query)

    def check_rules(self, body=None):
        """Find rules that never match, redundant conditions, duplicate actions and loops."""
        return self._send("POST", "/api/automation-rules/check", body=body)

    def execute_rule(self, id, body=None, query=None, headers=None):
        """Execute a rule, active or inactive."""
        return self._send("POST", f"/api/automation-rules/{_part(id)}/execute", body=body, query=query, headers=headers)

    def trigger_event(self, event_type, body=None, query=None, headers=None):
        """Post an event of one type. Every active rule for the type runs."""
        return self._send("POST", f"/api/automation-rules/trigger/{_part(event_type)}", body=body, query=query, headers=headers)

    def trigger_event_batch(self, event_type, body=None):
        """Post up to 500 events of one type. Each event has its own result."""
        return self._send("POST", f"/api/automation-rules/trigger/{_part(event_type)}/batch", body=body)

    def post_event(self, body=None, query=None, headers=None):
        """Post an event. Every active rule for its type runs."""
        return self._send("POST", "/api/events", body=body, query=query, headers=headers)

    def list_events(self, query=None):
        """List events, newest first."""
        return self._send("GET", "/api/events", query=query)

    def post_event_batch(self, body=None):
        """Post up to 500 events of any types. Each event has its own result."""
        return self._send("POST", "/api/events/batch", body=body)

    def list_sample_events(self, query=None):
        """List the newest events, of all types or of one, with their data."""
        return self._send("GET", "/api/events/samples", query=query)

    def get_newest_events(self, query=None):
        """Wait for new events."""
        return self._send("GET", "/api/events/newest", query=query)

    def get_event(self, id):
        """Get an event and its outcome."""
        return self._send("GET", f"/api/events/{_part(id)}")

    def search_events(self, body=None):
        """Find events whose data matches conditions, newest first."""
        return self._send("POST", "/api/events/search", body=body)

    def explain_event(self, id, query=None):
        """Explain why each rule matched an event, or did not."""
        return self._send("GET", f"/api/events/{_part(id)}/why", query=query)

    def replay_event(self, id, body=None, headers=None):
        """Replay an event: the same data, with the current rules."""
        return self._send("POST", f"/api/events/{_part(id)}/replay", body=body, headers=headers)

    def replay_events(self, body=None):
        """Replay the events that match a filter, oldest first, at most 1,000 per call."""
        return self._send("POST", "/api/events/replay", body=body)

    def survey_event_type(self, name, query=None):
        """List the fields that the newest events of a type have, with their kinds and values."""
        return self._send("GET", f"/api/event-types/{_part(name)}/fields", query=query)

    def list_event_types(self, query=None):
        """List event types: those of the catalogue, then those of the workspace."""
        return self._send("GET", "/api/event-types", query=query)

    def create_event_type(self, body=None, headers=None):
        """Create an event type of the workspace."""
        return self._send("POST", "/api/event-types", body=body, headers=headers)

    def update_event_type(self, name, body=None):
        """Change the description of an event type of the workspace."""
        return self._send("PATCH", f"/api/event-types/{_part(name)}", body=body)

    def delete_event_type(self, name):
        """Delete an event type of the workspace that no rule uses. Its events stay."""
        return self._send("DELETE", f"/api/event-types/{_part(name)}")

    def list_executions(self, query=None):
        """List executions, newest event first."""
        return self._send("GET", "/api/executions", query=query)

    def get_execution(self, id, query=None):
        """Get an execution with its progress and the result of each action."""
        return self._send("GET", f"/api/executions/{_part(id)}", query=query)

    def retry_execution(self, id, body=None, headers=None):
        """Retry a failed or cancelled execution from its first unfinished action."""
        return self._send("POST", f"/api/executions/{_part(id)}/retry", body=body, headers=headers)

    def retry_executions(self, body=None, headers=None):
        """Retry the executions that match a filter, oldest first, at most 1,000 per call."""
        return self._send("POST", "/api/executions/retry", body=body, headers=headers)

    def cancel_execution(self, id, headers=None):
        """Cancel an execution that has not ended."""
        return self._send("POST", f"/api/executions/{_part(id)}/cancel", headers=headers)

    def cancel_executions(self, body=None, headers=None):
        """Cancel the executions that wait or retry and match a filter, oldest first, at most 1,000 per call."""
        return self._send("POST", "/api/executions/cancel", body=body, headers=headers)

    def acknowledge_failures(self, id):
        """Acknowledge a failed execution, and all that failed before it in the same way."""
        return self._send("PUT", f"/api/executions/{_part(id)}/acknowledgement")

    def unacknowledge_failures(self, id):
        """Take an acknowledgement back."""
        return self._send("DELETE", f"/api/executions/{_part(id)}/acknowledgement")

    def deliver_webhook(self, provider, workspace_id, body=None, headers=None):
        """Deliver a signed webhook. A repeated delivery has no effect."""
        return self._send("POST", f"/api/incoming-webhooks/{_part(provider)}/{_part(workspace_id)}", body=body, headers=headers)

    def list_tasks(self, query=None):
        """List the tasks that rules created, newest first."""
        return self._send("GET", "/api/tasks", query=query)

    def get_task(self, id):
        """Get a task."""
        return self._send("GET", f"/api/tasks/{_part(id)}")

    def list_decisions(self, query=None):
        """List the decisions that executions wait for, or have waited for, newest event first."""
        return self._send("GET", "/api/decisions", query=query)

    def make_decision(self, id, body=None, headers=None):
        """Decide what an execution waits for."""
        return self._send("POST", f"/api/decisions/{_part(id)}", body=body, headers=headers)

    def get_vocabulary(self, headers=None):
        """Get the vocabulary of rules."""
        return self._send("GET", "/api/vocabulary", headers=headers)

    def list_email_templates(self, query=None):
        """List the email templates without their texts, newest first."""
        return self._send("GET", "/api/email-templates", query=query)

    def create_email_template(self, body=None, headers=None):
        """Create an email template for SEND_EMAIL."""
        return self._send("POST", "/api/email-templates", body=body, headers=headers)

    def get_email_template(self, id):
        """Get an email template."""
        return self._send("GET", f"/api/email-templates/{_part(id)}")

    def update_email_template(self, id, body=None, headers=None):
        """Update any subset of the fields of an email template."""
        return self._send("PUT", f"/api/email-templates/{_part(id)}", body=body, headers=headers)

    def patch_email_template(self, id, body=None, headers=None):
        """Update any subset of the fields of an email template, like PUT."""
        return self._send("PATCH", f"/api/email-templates/{_part(id)}", body=body, headers=headers)

    def delete_email_template(self, id, headers=None):
        """Delete an email template. Actions that name it then send the built-in email."""
        return self._send("DELETE", f"/api/email-templates/{_part(id)}", headers=headers)

    def preview_email_template(self, id, body=None):
        """Preview the email that a template renders for an event. Nothing is sent."""
        return self._send("POST", f"/api/email-templates/{_part(id)}/preview", body=body)

    def get_me(self):
        """Get the caller, and its workspaces with its role in each."""
        return self._send("GET", "/api/me")

    def get_overview(self, query=None):
        """Count events, executions and rejected webhooks by time."""
        return self._send("GET", "/api/overview", query=query)

    def list_webhook_receipts(self, query=None):
        """List accepted or rejected webhooks, newest first."""
        return self._send("GET", "/api/developer/v1/webhook-receipts", query=query)

    def get_webhook_receipt(self, id):
        """Get a receipt of an accepted or rejected webhook."""
        return self._send("GET", f"/api/developer/v1/webhook-receipts/{_part(id)}")

    def list_api_keys(self, query=None):
        """List the API keys, including expired and revoked keys, newest first."""
        return self._send("GET", "/api/developer/v1/api-keys", query=query)

    def create_api_key(self, body=None, headers=None):
        """Create an API key. Only this response contains its text."""
        return self._send("POST", "/api/developer/v1/api-keys", body=body, headers=headers)

    def get_api_key(self, id):
        """Get an API key, without its text."""
        return self._send("GET", f"/api/developer/v1/api-keys/{_part(id)}")

    def revoke_api_key(self, id):
        """Revoke an API key with immediate effect."""
        return self._send("DELETE", f"/api/developer/v1/api-keys/{_part(id)}")

    def list_signing_secrets(self, query=None):
        """List the signing secrets, including retired and revoked secrets, newest first."""
        return self._send("GET", "/api/developer/v1/signing-secrets", query=query)

    def create_signing_secret(self, body=None, headers=None):
        """Create a signing secret. Only this response contains its text."""
        return self._send("POST", "/api/developer/v1/signing-secrets", body=body, headers=headers)

    def get_signing_secret(self, id):
        """Get a signing secret, without its text."""
        return self._send("GET", f"/api/developer/v1/signing-secrets/{_part(id)}")

    def put_signing_secret(self, id, body=None):
        """Store the text that the provider has made, or other settings of the scheme."""
        return self._send("PUT", f"/api/developer/v1/signing-secrets/{_part(id)}", body=body)

    def revoke_signing_secret(self, id):
        """Revoke a signing secret with immediate effect."""
        return self._send("DELETE", f"/api/developer/v1/signing-secrets/{_part(id)}")

    def retire_signing_secret(self, id, body=None, headers=None):
        """Retire a signing secret. It remains valid while the sender switches to the next secret."""
        return self._send("POST", f"/api/developer/v1/signing-secrets/{_part(id)}/retire", body=body, headers=headers)

    def list_credentials(self, query=None):
        """List the credentials of the workspace, by name."""
        return self._send("GET", "/api/developer/v1/credentials", query=query)

    def get_credential(self, name):
        """Get a credential, without its values."""
        return self._send("GET", f"/api/developer/v1/credentials/{_part(name)}")

    def put_credential(self, name, body=None):
        """Create a credential, or replace its values and hosts."""
        return self._send("PUT", f"/api/developer/v1/credentials/{_part(name)}", body=body)

    def patch_credential(self, name, body=None):
        """Change part of a credential."""
        return self._send("PATCH", f"/api/developer/v1/credentials/{_part(name)}", body=body)

    def delete_credential(self, name):
        """Delete a credential that no active rule and no draft uses."""
        return self._send("DELETE", f"/api/developer/v1/credentials/{_part(name)}")

    def list_subscriptions(self, query=None):
        """List the subscriptions, newest first."""
        return self._send("GET", "/api/developer/v1/subscriptions", query=query)

    def create_subscription(self, body=None, headers=None):
        """Create a subscription: send events about the workspace to a URL. Only this response contains the signing secret."""
        return self._send("POST", "/api/developer/v1/subscriptions", body=body, headers=headers)

    def get_subscription(self, id):
        """Get a subscription."""
        return self._send("GET", f"/api/developer/v1/subscriptions/{_part(id)}")

    def update_subscription(self, id, body=None, headers=None):
        """Update any subset of the fields of a subscription."""
        return self._send("PATCH", f"/api/developer/v1/subscriptions/{_part(id)}", body=body, headers=headers)

    def delete_subscription(self, id, headers=None):
        """Delete a subscription, cancel its waiting deliveries and revoke its secrets."""
        return self._send("DELETE", f"/api/developer/v1/subscriptions/{_part(id)}", headers=headers)

    def test_subscription(self, id, headers=None):
        """Send a `subscription.ping` to test a subscription."""
        return self._send("POST", f"/api/developer/v1/subscriptions/{_part(id)}/test", headers=headers)

    def list_subscription_deliveries(self, id, query=None):
        """List the deliveries to a subscription with their outcome, newest first."""
        return self._send("GET", f"/api/developer/v1/subscriptions/{_part(id)}/deliveries", query=query)

    def list_members(self, query=None):
        """List the members of the workspace, at most 1,000, oldest first."""
        return self._send("GET", "/api/developer/v1/members", query=query)

    def get_member(self, user_id):
        """Get a member and their role."""
        return self._send("GET", f"/api/developer/v1/members/{_part(user_id)}")

    def put_member(self, user_id, body=None, headers=None):
        """Add a member, change their role, or grant support access."""
        return self._send("PUT", f"/api/developer/v1/members/{_part(user_id)}", body=body, headers=headers)

    def remove_member(self, user_id, headers=None):
        """Remove a member."""
        return self._send("DELETE", f"/api/developer/v1/members/{_part(user_id)}", headers=headers)

    def list_invitations(self, query=None):
        """List the invitations of the workspace, at most 1,000, newest first."""
        return self._send("GET", "/api/developer/v1/invitations", query=query)

    def create_invitation(self, body=None, headers=None):
        """Invite a user by a link. Only this response contains its token."""
        return self._send("POST", "/api/developer/v1/invitations", body=body, headers=headers)

    def revoke_invitation(self, id):
        """Revoke an open invitation."""
        return self._send("DELETE", f"/api/developer/v1/invitations/{_part(id)}")

    def accept_invitation(self, body=None):
        """Accept an invitation, or see what it is for (`dryRun`)."""
        return self._send("POST", "/api/developer/v1/invitations/accept", body=body)

    def create_embed_session(self, body=None, headers=None):
        """Create a session for a frame in your product. Only this response contains its link."""
        return self._send("POST", "/api/developer/v1/embed-sessions", body=body, headers=headers)

    def list_embed_sessions(self, query=None):
        """List the live embed sessions of the workspace, newest first."""
        return self._send("GET", "/api/developer/v1/embed-sessions", query=query)

    def end_embed_sessions_of_user(self, query=None):
        """End all live embed sessions of a user of yours."""
        return self._send("DELETE", "/api/developer/v1/embed-sessions", query=query)

    def end_embed_session(self, id):
        """End an embed session."""
        return self._send("DELETE", f"/api/developer/v1/embed-sessions/{_part(id)}")

    def get_embed_frame(self, id):
        """List the origins whose pages may frame an embed session."""
        return self._send("GET", f"/api/developer/v1/embed-sessions/{_part(id)}/frame")

    def open_embed_session(self, id, body=None):
        """Exchange the secret of the link of an embed session for its token, once."""
        return self._send("POST", f"/api/developer/v1/embed-sessions/{_part(id)}/open", body=body)

    def list_workspaces(self, query=None):
        """List the workspaces of the user, oldest first. An API key lists its own workspace."""
        return self._send("GET", "/api/developer/v1/workspaces", query=query)

    def create_workspace(self, body=None, headers=None):
        """Create a workspace with its first admin."""
        return self._send("POST", "/api/developer/v1/workspaces", body=body, headers=headers)

    def get_workspace(self, id):
        """Get the workspace that x-workspace-id names."""
        return self._send("GET", f"/api/developer/v1/workspaces/{_part(id)}")

    def update_workspace(self, id, body=None, headers=None):
        """Update the workspace that x-workspace-id names."""
        return self._send("PATCH", f"/api/developer/v1/workspaces/{_part(id)}", body=body, headers=headers)

    def suspend_workspace(self, id, headers=None):
        """Suspend the workspace that x-workspace-id names."""
        return self._send("PUT", f"/api/developer/v1/workspaces/{_part(id)}/suspension", headers=headers)

    def resume_workspace(self, id, headers=None):
        """Resume the workspace that x-workspace-id names."""
        return self._send("DELETE", f"/api/developer/v1/workspaces/{_part(id)}/suspension", headers=headers)

    def delete_workspace(self, id, body=None, headers=None):
        """Ask for the deletion of the workspace that x-workspace-id names."""
        return self._send("PUT", f"/api/developer/v1/workspaces/{_part(id)}/deletion", body=body, headers=headers)

    def keep_workspace(self, id, headers=None):
        """Undo the deletion of the workspace that x-workspace-id names."""
        return self._send("DELETE", f"/api/developer/v1/workspaces/{_part(id)}/deletion", headers=headers)

    def list_erasures(self, query=None):
        """List the erasures of the workspace, newest first."""
        return self._send("GET", "/api/developer/v1/erasures", query=query)

    def create_erasure(self, body=None):
        """Erase a value of a person from events and what was made of them."""
        return self._send("POST", "/api/developer/v1/erasures", body=body)

    def get_erasure(self, id):
        """Get an erasure and its progress."""
        return self._send("GET", f"/api/developer/v1/erasures/{_part(id)}")

    def list_audit_entries(self, query=None):
        """List the changes in the workspace and their actors, newest first."""
        return self._send("GET", "/api/developer/v1/audit-log", query=query)

    def get_ledger(self, query=None):
        """Reconcile receipts, events, executions, effects and counters: is everything accounted for?."""
        return self._send("GET", "/api/developer/v1/ledger", query=query)


def _part(value):
    return urllib.parse.quote(str(value), safe="")


def _parse(text):
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
