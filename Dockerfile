# syntax=docker/dockerfile:1
# One image for both processes, the migration and the command line; docker-compose.yml says which of them runs.

FROM node:20-bookworm-slim AS sources
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/engine/package.json packages/engine/
COPY packages/environment/package.json packages/environment/
COPY packages/jobs/package.json packages/jobs/
COPY packages/database/package.json packages/database/
COPY packages/inbox/package.json packages/inbox/
COPY packages/webhooks/package.json packages/webhooks/
COPY packages/administration/package.json packages/administration/
COPY packages/launcher/package.json packages/launcher/
COPY apps/api/package.json apps/api/
COPY apps/worker/package.json apps/worker/
COPY apps/cli/package.json apps/cli/
COPY bench/package.json bench/
COPY test/package.json test/

FROM sources AS build
RUN npm ci
COPY . .
ENV TURBO_TELEMETRY_DISABLED=1
RUN npx turbo run build --filter=@automation/api --filter=@automation/worker --filter=@automation/cli

# Only what runs: no compiler, no test tools, no embedded database.
FROM sources AS dependencies
RUN npm ci --omit=dev --workspace apps/api --workspace apps/worker --workspace apps/cli

FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 MAIL_DIR=/tmp/mail
WORKDIR /app
COPY --from=dependencies /app ./
COPY --from=build /app/packages/engine/dist packages/engine/dist
COPY --from=build /app/packages/environment/dist packages/environment/dist
COPY --from=build /app/packages/jobs/dist packages/jobs/dist
COPY --from=build /app/packages/database/dist packages/database/dist
COPY --from=build /app/packages/inbox/dist packages/inbox/dist
COPY --from=build /app/packages/webhooks/dist packages/webhooks/dist
COPY --from=build /app/packages/administration/dist packages/administration/dist
COPY --from=build /app/apps/api/dist apps/api/dist
COPY --from=build /app/apps/worker/dist apps/worker/dist
COPY --from=build /app/apps/cli/dist apps/cli/dist
COPY --from=build /app/apps/cli/run.mjs apps/cli/run.mjs
COPY prisma prisma
USER node
EXPOSE 3000
CMD ["node", "apps/api/dist/src/server.js"]
