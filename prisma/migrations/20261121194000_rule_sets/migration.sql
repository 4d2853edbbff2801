-- CreateTable
CREATE TABLE "rule_sets" (
    "workspace_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "rule_ids" UUID[],
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rule_sets_pkey" PRIMARY KEY ("workspace_id","id")
);

-- AlterTable
ALTER TABLE "events" ADD COLUMN     "rule_set_id" UUID;

-- As ruleSetIdOf in packages/database/src/ids.ts.
CREATE FUNCTION pg_temp.rule_set_id_of(rule_ids UUID[]) RETURNS UUID LANGUAGE sql IMMUTABLE AS $$
  SELECT (left(digest, 12) || '8' || substr(digest, 13, 3) || '8' || substr(digest, 16, 15))::uuid
  FROM (SELECT encode(sha256(convert_to(array_to_string(rule_ids, ' '), 'UTF8')), 'hex') AS digest) AS hashed
$$;

INSERT INTO "rule_sets" ("workspace_id", "id", "rule_ids")
SELECT DISTINCT "workspace_id", pg_temp.rule_set_id_of("rule_ids"), "rule_ids"
FROM "events"
WHERE "rule_id" IS NULL AND cardinality("rule_ids") > 0;

UPDATE "events"
SET "rule_set_id" = CASE WHEN "rule_id" IS NULL THEN pg_temp.rule_set_id_of("rule_ids") ELSE "rule_id" END
WHERE cardinality("rule_ids") > 0;

-- AlterTable
ALTER TABLE "events" DROP COLUMN "rule_ids";
