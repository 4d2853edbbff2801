CREATE TABLE "deleted_rule_versions" (
    "workspace_id" UUID NOT NULL,
    "rule_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "conditions" JSON NOT NULL,
    "actions" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "bytes" INTEGER NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deleted_rule_versions_pkey" PRIMARY KEY ("workspace_id","rule_id","version")
);
