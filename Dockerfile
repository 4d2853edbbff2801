# One image for all processes, the migration and the command line; docker-compose.yml says which of them runs.

# A registry of your own may have the base image under another name.
ARG NODE_IMAGE=node:24-bookworm-slim
# Only the target backup needs it.
ARG POSTGRES_IMAGE=postgres:18-bookworm

# Only what decides which packages are installed: as long as that stays the same, so do the layers that install them.
FROM $NODE_IMAGE AS manifests
WORKDIR /app
COPY . .
RUN find . -depth \( -type f ! -name package.json ! -name package-lock.json ! -name .npmrc -o -type d -empty \) -delete

FROM $NODE_IMAGE AS sources
WORKDIR /app
COPY --from=manifests /app ./

# No package's own script runs: they would download engines and compile parts that nothing here needs. (`npm --prefix` would ignore the base
# image's npmrc, such as the address of a registry.)
FROM sources AS build
RUN npm ci --ignore-scripts && cd site && npm ci --ignore-scripts
COPY . .
RUN node scripts/build.mjs && node scripts/build-site.mjs
RUN mkdir built && cp -r --parents apps/*/dist/src apps/*/dist/bundle apps/console/dist/public packages/*/dist/src packages/*/dist/bundle apps/cli/run.mjs docs prisma site/dist *.md packages/client/README.md examples/README.md built

# Only what runs: no compiler, no Prisma CLI, no embedded database. npm keeps what is both a tool and somebody's optional
# wish unless all three are omitted; what is merely optional, a faster decoder, is not used.
FROM sources AS dependencies
RUN npm ci --ignore-scripts --omit=dev --omit=optional --omit=peer --workspace apps

FROM $NODE_IMAGE AS app
ENV NODE_ENV=production HOST=0.0.0.0 SMTP_URL=file:///tmp/mail
WORKDIR /app
COPY --from=dependencies /app ./
COPY --from=build /app/built ./
USER node
CMD ["node", "apps/api/dist/bundle/server.js"]

# For backup and restore, beside the database: pg_dump and pg_restore of the server's own version. It is built when somebody asks for it.
FROM $POSTGRES_IMAGE AS backup
ENV NODE_ENV=production
COPY --from=app /usr/local/bin/node /usr/local/bin/node
COPY --from=app /app /app
WORKDIR /backups
USER 1000
ENTRYPOINT ["node", "/app/apps/cli/run.mjs", "admin"]

# Without a target, the image of all processes.
FROM app
