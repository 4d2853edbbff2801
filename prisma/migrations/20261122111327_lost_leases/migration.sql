SET lock_timeout = '3s';

-- Both are null for what is there, so no row is rewritten. Older workers run beside this: they count every lost lease.
ALTER TABLE "executions" ADD COLUMN "awaits_slot" BOOLEAN,
ADD COLUMN "lost_leases" UUID[];
