CREATE TABLE "rule_states" (
    "workspace_id" UUID NOT NULL,
    "rule_id" UUID NOT NULL,
    "rules_version" INTEGER NOT NULL,
    "version" INTEGER NOT NULL,
    "is_active" BOOLEAN NOT NULL,
    "is_deleted" BOOLEAN NOT NULL DEFAULT false,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rule_states_pkey" PRIMARY KEY ("workspace_id","rule_id","rules_version")
);

-- The rules as they are, from now on. What a rule was before is not known. Changes that an older API makes after this are noted
-- by the workers (packages/rules/src/rule-states.ts).
INSERT INTO "rule_states" ("workspace_id", "rule_id", "rules_version", "version", "is_active")
SELECT rules.workspace_id, rules.id, workspaces.rules_version, rules.version, rules.is_active
FROM "rules" JOIN "workspaces" ON workspaces.id = rules.workspace_id;
