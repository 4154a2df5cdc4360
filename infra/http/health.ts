import type { RequestListener } from 'node:http'
import express from 'express'
import type { Metrics } from '../metrics.ts'

/** Whether one part of a process can do its work, and if not, why. */
export type Check = { readonly name: string; readonly ok: boolean; readonly detail?: string }

export type Checks = () => Promise<readonly Check[]>

const withinMs = 2000

const failed = (error: unknown): readonly Check[] => [
  { name: 'checks', ok: false, detail: error instanceof Error ? error.message : String(error) },
]

const timeOut = () =>
  new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${withinMs} ms`)), withinMs).unref()
  })

/**
 * `/health/live`: the process runs. `/health/ready`: it can do its work. `/metrics`: Prometheus. None needs a token.
 * Every other request is for `serveRequest`.
 */
export const withHealth = (metrics: Metrics, checks: Checks, serveRequest?: RequestListener): RequestListener => {
  const health = express()
    .disable('x-powered-by')
    .get('/health/live', (_request, response) => {
      response.json({ status: 'live' })
    })
    .get('/health/ready', async (_request, response) => {
      const all = await Promise.race([checks(), timeOut()]).catch(failed)
      const ready = all.every(({ ok }) => ok)
      response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not_ready', checks: all })
    })
    .get('/metrics', async (_request, response) => {
      response.type(metrics.registry.contentType).send(await metrics.registry.metrics())
    })

  return (request, response) => {
    const isHealth = /^\/(health\/|metrics(\?|$))/.test(request.url ?? '')
    if (isHealth || !serveRequest) health(request, response)
    else serveRequest(request, response)
  }
}
