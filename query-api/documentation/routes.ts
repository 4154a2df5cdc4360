import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Router, type Request } from 'express'
// Its main module would load what only a browser runs.
import absolutePath from 'swagger-ui-dist/absolute-path.js'
import { Problem } from '#infra/http/problem.ts'
import { prepared } from './prepared.ts'

const scriptFile = new URL('explorer.js', import.meta.url)
const documentFile = new URL('openapi.json', import.meta.url)

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Coverstream API</title>
    <link rel="stylesheet" href="/api/v1/explorer/swagger-ui.css" />
    <link rel="icon" href="/api/v1/explorer/favicon-32x32.png" />
    <style>
      /* Swagger UI sets names and their explanations side by side, which leaves a word to a line on a phone. */
      @media (max-width: 40rem) {
        .swagger-ui .opblock-tag { flex-wrap: wrap; }
        .swagger-ui .opblock-tag small { flex-basis: 100%; order: 1; padding: 0; }
        .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
        .swagger-ui .opblock-summary-path { max-width: 100%; }
        .swagger-ui table.parameters, .swagger-ui .parameters tbody, .swagger-ui .parameters tr, .swagger-ui .parameters td,
        .swagger-ui .responses-table, .swagger-ui .responses-table tbody, .swagger-ui .responses-table tr,
        .swagger-ui .responses-table td { display: block; }
        .swagger-ui .parameters thead, .swagger-ui .responses-table thead,
        .swagger-ui .responses-table td.response-col_links { display: none; }
        .swagger-ui .parameters-col_description, .swagger-ui .response-col_description { width: auto; }
      }
    </style>
  </head>
  <body>
    <div id="explorer"></div>
    <script src="/api/v1/explorer/swagger-ui-bundle.js"></script>
    <script src="/api/v1/explorer/start.js"></script>
  </body>
</html>
`

/** The output of `npm run openapi`, for this address; undefined when it was not run. */
const readDocument = async (baseUrl: string): Promise<Buffer | undefined> => {
  try {
    const written = JSON.parse(await readFile(documentFile, 'utf8')) as object // our own generated file
    return Buffer.from(JSON.stringify({ ...written, servers: [{ url: baseUrl }] }))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Files of Swagger UI for the page. Its package holds more, also other pages. */
const files = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const forADay = { 'Cache-Control': 'public, max-age=86400' }
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
}

/** The sign-in and examples for a demo's explorer. Undefined where there is no demo. */
export type ExplorerDemo = () => Promise<object>

/**
 * The request comes from a page of this very address, opened on this machine. Another site's page must not read the keys of a
 * demo, not even one whose name leads to this machine, nor may whoever comes through a proxy or a tunnel.
 */
const isFromOwnPage = (request: Request, baseUrl: string): boolean =>
  request.get('sec-fetch-site') === 'same-origin' &&
  request.get('host') === new URL(baseUrl).host &&
  request.get('x-forwarded-for') === undefined &&
  request.get('forwarded') === undefined

/**
 * The OpenAPI document of both APIs and a page to explore it. The document is a product of the build, since this process
 * knows only its own routes.
 */
export const documentationRoutes = async (baseUrl: string, demo?: ExplorerDemo): Promise<Router> => {
  const document = await readDocument(baseUrl)
  const router = Router()
  router.get(
    '/api/v1/openapi.json',
    document
      ? prepared(document, 'application/json; charset=utf-8', { 'Access-Control-Allow-Origin': '*' })
      : () => {
          throw new Problem(
            'not_found',
            'The OpenAPI document was not made. Run npm run openapi and start query-api again.',
          )
        },
  )
  router.get('/api/v1/explorer', prepared(Buffer.from(page), 'text/html; charset=utf-8', pageHeaders))
  router.get('/api/v1/explorer/start.js', prepared(await readFile(scriptFile), files['swagger-ui-bundle.js'], {}))
  for (const [name, type] of Object.entries(files))
    router.get(`/api/v1/explorer/${name}`, prepared(await readFile(join(absolutePath(), name)), type, forADay))
  return router.get('/api/v1/explorer/demo.json', async (request, response) => {
    if (!demo || !isFromOwnPage(request, baseUrl)) throw new Problem('not_found', 'There is no demo to sign in to.')
    response.json(await demo())
  })
}
