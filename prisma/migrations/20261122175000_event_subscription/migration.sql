SET lock_timeout = '3s';

-- It is null for what is there, so no row is rewritten. Older processes run beside this: they know a delivery by its type.
ALTER TABLE "events" ADD COLUMN "subscription_id" UUID;
