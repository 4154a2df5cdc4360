import type { RequestListener } from 'node:http'
import express from 'express'
import type { Metrics } from '../metrics.ts'
import { reasonOf } from '../reason.ts'
import { withTimeout } from '../timeout.ts'

/** The check that one part of a process can do its work, and if not, why. */
export type Check = { readonly name: string; readonly ok: boolean; readonly detail?: string }

export type Checks = () => Promise<readonly Check[]>

const withinMs = 2000

const failed = (error: unknown): readonly Check[] => [{ name: 'checks', ok: false, detail: reasonOf(error) }]

const readinessOf = async (checks: Checks) => {
  const all = await withTimeout(checks(), withinMs).catch(failed)
  const isReady = all.every(({ ok }) => ok)
  return { checks: all, statusCode: isReady ? 200 : 503, status: isReady ? 'ready' : 'not_ready' }
}

/** Anyone may ask, and nobody is counted: all who ask while the checks are made share their outcome. */
const readiness = (checks: Checks) => {
  let underWay: ReturnType<typeof readinessOf> | undefined
  return () =>
    (underWay ??= readinessOf(checks).finally(() => {
      underWay = undefined
    }))
}

const base = () =>
  express()
    .disable('x-powered-by')
    .get('/health/live', (_request, response) => {
      response.json({ status: 'live' })
    })

/**
 * The operator's view of a process, on the health port: `/health/live` answers while the process runs, `/health/ready` says
 * whether it can do its work, with the details of each check, `/metrics` is for Prometheus.
 */
export const healthDetails = (role: string, metrics: Metrics, checks: Checks): RequestListener => {
  const ready = readiness(checks)
  return base()
    .get('/health/ready', async (_request, response) => {
      const { statusCode, status, checks: all } = await ready()
      response.status(statusCode).json({ status, checks: all })
    })
    .get('/metrics', async (_request, response) => {
      metrics.ready.set({ role }, (await ready()).statusCode === 200 ? 1 : 0)
      response.type(metrics.registry.contentType).send(await metrics.registry.metrics())
    })
}

/** The public's view, beside an API: up or not, and no more. Every other request is for the API. */
export const withPublicHealth = (checks: Checks, serveRequest: RequestListener): RequestListener => {
  const ready = readiness(checks)
  const health = base().get('/health/ready', async (_request, response) => {
    const { statusCode, status } = await ready()
    response.status(statusCode).json({ status })
  })
  return (request, response) => {
    if (/^\/health\//i.test(request.url ?? '')) health(request, response)
    else serveRequest(request, response)
  }
}
