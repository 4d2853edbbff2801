SET lock_timeout = '3s';

-- Guards of before know of no backlog: they count what they counted. A worker of the version before does not note any.
ALTER TABLE "rule_guards" ADD COLUMN "oldest_at" TIMESTAMPTZ(3),
ADD COLUMN "oldest_before" TIMESTAMPTZ(3),
ADD COLUMN "window_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
