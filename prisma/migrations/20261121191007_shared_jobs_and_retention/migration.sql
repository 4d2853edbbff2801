-- AlterTable
ALTER TABLE "workspaces" ADD COLUMN     "retention_days" INTEGER;

-- AlterTable
ALTER TABLE "events" ADD COLUMN     "job_id" UUID;
