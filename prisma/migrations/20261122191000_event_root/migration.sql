SET lock_timeout = '3s';

-- Null for what is there, so no row is rewritten. Events that older workers emit have none: they begin a tree of their own.
ALTER TABLE "events" ADD COLUMN "root_id" UUID;
