-- CreateEnum
CREATE TYPE "secret_direction" AS ENUM ('incoming', 'outgoing');

-- AlterEnum
ALTER TYPE "execution_status" ADD VALUE 'cancelled';
ALTER TYPE "execution_status" ADD VALUE 'running';
ALTER TYPE "execution_status" ADD VALUE 'waiting';
ALTER TYPE "execution_status" ADD VALUE 'retrying';

-- AlterTable
ALTER TABLE "workspaces" ADD COLUMN     "auto_pause_after" INTEGER;

-- AlterTable
ALTER TABLE "rule_counters" ADD COLUMN     "attention_at" TIMESTAMPTZ(3),
ADD COLUMN     "attention_reason" TEXT;

-- AlterTable
ALTER TABLE "signing_secrets" ADD COLUMN     "direction" "secret_direction" NOT NULL DEFAULT 'incoming';

-- AlterTable
ALTER TABLE "events" ADD COLUMN     "caused_by" UUID,
ADD COLUMN     "depth" SMALLINT NOT NULL DEFAULT 0,
ADD COLUMN     "crashes" SMALLINT NOT NULL DEFAULT 0,
ADD COLUMN     "quarantined" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "replay_of" UUID;

-- AlterTable
ALTER TABLE "executions" ADD COLUMN     "due_at" TIMESTAMPTZ(3),
ADD COLUMN     "event_type" TEXT,
ADD COLUMN     "interruptions" SMALLINT NOT NULL DEFAULT 0,
ADD COLUMN     "lease" UUID,
ALTER COLUMN "finished_at" DROP NOT NULL;

-- What ran before is told under its event's type, too.
UPDATE "executions" SET "event_type" = coalesce((SELECT "type" FROM "events" WHERE "events"."id" = "executions"."event_id"), '');
ALTER TABLE "executions" ALTER COLUMN "event_type" SET NOT NULL;

-- CreateTable
CREATE TABLE "rule_versions" (
    "rule_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "workspace_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "conditions" JSON NOT NULL,
    "actions" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,

    CONSTRAINT "rule_versions_pkey" PRIMARY KEY ("rule_id","version")
);

-- Definitions begin their history as they stand.
INSERT INTO "rule_versions" ("rule_id", "version", "workspace_id", "name", "description", "trigger", "conditions", "actions", "created_at", "created_by")
SELECT "id", "version", "workspace_id", "name", "description", "trigger", "conditions", "actions", "updated_at", 'system:migration' FROM "rules";

-- CreateTable
CREATE TABLE "email_templates" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "text" TEXT,
    "html" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "email_templates_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "subscriptions" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "event_types" TEXT[],
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "workspace_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "event_id" UUID,
    "answer" JSON,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("workspace_id","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "email_templates_workspace_id_name_key" ON "email_templates"("workspace_id", "name");

-- CreateIndex
CREATE INDEX "subscriptions_workspace_id_id_idx" ON "subscriptions"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "events_workspace_id_id_idx" ON "events"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "executions_workspace_id_id_idx" ON "executions"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "executions_rule_id_id_idx" ON "executions"("rule_id", "id");

-- CreateIndex
CREATE INDEX "executions_due" ON "executions"("due_at", "id") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "executions_not_succeeded" ON "executions"("workspace_id", "id") WHERE (status <> 'succeeded'::execution_status);

-- AddForeignKey
ALTER TABLE "rule_versions" ADD CONSTRAINT "rule_versions_rule_id_fkey" FOREIGN KEY ("rule_id") REFERENCES "rules"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "email_templates" ADD CONSTRAINT "email_templates_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
