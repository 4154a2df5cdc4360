import { readFile } from 'node:fs/promises'
import express, { Router, type Request } from 'express'
// Its main module would load what only a browser runs.
import absolutePath from 'swagger-ui-dist/absolute-path.js'
import { Problem } from '#infra/http/problem.ts'

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

/** What `npm run openapi` has written; undefined when it was not run. */
const readDocument = async (): Promise<object | undefined> => {
  try {
    return JSON.parse(await readFile(documentFile, 'utf8')) as object // our own generated file
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** What the explorer of a demo signs in with and fills in. Undefined where there is no demo. */
export type ExplorerDemo = () => Promise<object>

/**
 * Whether a request comes from a page of this very address, opened on this machine. Another site's page must not read the
 * keys of a demo, not even one whose name leads to this machine, nor may whoever comes through a proxy or a tunnel.
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
  const script = await readFile(scriptFile, 'utf8')
  const written = await readDocument()
  const document = written && { ...written, servers: [{ url: baseUrl }] }
  return Router()
    .get('/api/v1/openapi.json', (_request, response) => {
      if (!document)
        throw new Problem(
          'not_found',
          'The OpenAPI document was not made. Run npm run openapi and start query-api again.',
        )
      response.set('Access-Control-Allow-Origin', '*').json(document)
    })
    .get('/api/v1/explorer', (_request, response) => {
      response.set(
        'Content-Security-Policy',
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
      )
      response.type('html').send(page)
    })
    .get('/api/v1/explorer/start.js', (_request, response) => {
      response.type('js').send(script)
    })
    .get('/api/v1/explorer/demo.json', async (request, response) => {
      if (!demo || !isFromOwnPage(request, baseUrl)) throw new Problem('not_found', 'There is no demo to sign in to.')
      response.json(await demo())
    })
    .use('/api/v1/explorer', express.static(absolutePath(), { index: false, maxAge: '1d' }))
}
