SET lock_timeout = '3s';

-- The same for executions, in a migration of its own: no statement waits for a lock while it holds another one.
ALTER TABLE "executions" ADD COLUMN "subscription_id" UUID;
