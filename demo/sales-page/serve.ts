import { readFile } from 'node:fs/promises'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'
import { startSalesPage } from './server.ts'

const usage = `Usage: npm run sales-page -- --service URL --client-id ID --client-secret-file FILE [--port PORT]

Serves the page in demo/sales-page/page to the visitors of a firm, until it is stopped. docs/web-pages.md says what to change in it.

  --service URL              the BASE_URL of the service
  --client-id ID             of the firm's browser application, whose allowed_origins name the address of this page
  --client-secret-file FILE  holds the secret of that application, and nothing else
  --port PORT                where it listens on this machine (5173); a proxy of yours puts TLS before it
`

const { values } = readOptions(usage, {
  options: {
    service: { type: 'string' },
    'client-id': { type: 'string' },
    'client-secret-file': { type: 'string' },
    port: { type: 'string', default: '5173' },
  },
})
const { service, 'client-id': client_id, 'client-secret-file': file, port } = values
if (service === undefined || client_id === undefined || file === undefined)
  endMisunderstood([], usage, 'Give --service, --client-id and --client-secret-file.')
else if (!URL.canParse(service) || !/^\d{1,5}$/.test(port))
  endMisunderstood([], usage, '--service must be an address such as https://quotes.example.com, and --port a number.')
else {
  const client_secret = (await readFile(file, 'utf8')).trim()
  const { origin } = new URL(service)
  const client = { client_id, client_secret }
  const page = await startSalesPage({ port: Number(port), origin, baseUrl: origin, provider: undefined, client })
  process.stdout.write(`The page is at ${page.url}\n`)
}
