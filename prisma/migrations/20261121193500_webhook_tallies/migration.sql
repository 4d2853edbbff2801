-- CreateTable
CREATE TABLE "webhook_tallies" (
    "workspace_id" UUID NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "duplicates" INTEGER NOT NULL DEFAULT 0,
    "rejected" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_tallies_pkey" PRIMARY KEY ("workspace_id","hour")
);

-- CreateIndex
CREATE INDEX "webhook_tallies_hour_idx" ON "webhook_tallies"("hour");
