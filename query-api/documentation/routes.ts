import { readFile } from 'node:fs/promises'
import express, { Router } from 'express'
import { absolutePath } from 'swagger-ui-dist'
import { Problem } from '#infra/http/problem.ts'

const documentFile = new URL('openapi.json', import.meta.url)

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Coverstream API</title>
    <link rel="stylesheet" href="/api/v1/explorer/swagger-ui.css" />
    <link rel="icon" href="/api/v1/explorer/favicon-32x32.png" />
  </head>
  <body>
    <div id="explorer"></div>
    <script src="/api/v1/explorer/swagger-ui-bundle.js"></script>
    <script src="/api/v1/explorer/start.js"></script>
  </body>
</html>
`

const script = `SwaggerUIBundle({ url: '/api/v1/openapi.json', dom_id: '#explorer', deepLinking: true, tryItOutEnabled: true })\n`

/** What `npm run openapi` has written; undefined when it was not run. */
const readDocument = async (): Promise<object | undefined> => {
  try {
    return JSON.parse(await readFile(documentFile, 'utf8')) as object // our own generated file
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The OpenAPI document of both APIs and a page to explore it. The document is a product of the build, since this process
 * knows only its own routes.
 */
export const documentationRoutes = async (baseUrl: string): Promise<Router> => {
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
    .use('/api/v1/explorer', express.static(absolutePath(), { index: false, maxAge: '1d' }))
}
