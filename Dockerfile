# One image for every role: `command` chooses which main.ts it runs. TypeScript is run as it is, so nothing is built.
FROM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
WORKDIR /coverstream
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
RUN node scripts/openapi.ts
USER node
CMD ["node", "command-api/main.ts"]
