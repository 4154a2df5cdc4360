# One image for every role: `command` chooses which main.ts it runs. TypeScript is run as it is, so nothing is built.
FROM node:24-slim
WORKDIR /coverstream
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
RUN node scripts/openapi.ts
USER node
CMD ["node", "command-api/main.ts"]
