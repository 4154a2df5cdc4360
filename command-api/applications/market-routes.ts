import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Application } from '#domain/applications/record.ts'
import { ApplicationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { accessToApplication as access, type Applications } from './applications.ts'
import { realTime } from '#infra/clock.ts'

const tag = 'Market quotes'
const path = z.object({ id: ApplicationId })
const answers = { 200: z.object({ data: Application }) }

type Deps = { readonly applications: Applications }

/** Searching the market for a whole-of-market product, and choosing what was found. */
export const marketRoutes = ({
  applications: { handle, find, releaseOf, contextOf, todayOf, answer },
}: Deps): Route[] => [
  route(
    {
      method: 'post',
      address: '/api/v1/applications/:id/market_quotes',
      tag,
      summary: 'Search the market; answered at once, and the same search for the same answers',
      access,
      path,
      answers,
      errors: ['not_market_product', 'mapping_incomplete'],
    },
    async ({ path: { id }, caller, ...facts }) => {
      const before = await find(id, caller)
      const command = {
        type: 'SearchMarket',
        request_id: randomUUID(),
        release: await releaseOf(before.record),
        today: todayOf(caller, facts),
        now: facts.now,
        real_now: realTime().toISOString(),
      } as const
      const { state } = await handle(id, command, contextOf(caller, facts))
      return { status: 200, body: { data: await answer(state ?? before, caller) } }
    },
  ),
  route(
    {
      method: 'post',
      address: '/api/v1/applications/:id/market_quotes/select',
      tag,
      summary: 'Choose a result: the application is handed off to its provider',
      access,
      path,
      body: z.object({ result_id: z.uuid().toLowerCase() }),
      answers,
      errors: ['not_market_product', 'market_quotes_stale', 'application_closed'],
    },
    async ({ path: { id }, body: { result_id }, caller, ...facts }) => {
      const before = await find(id, caller)
      const release = await releaseOf(before.record)
      const today = todayOf(caller, facts)
      const command = { type: 'SelectMarketResult', release, result_id, today, now: facts.now } as const
      const { state } = await handle(id, command, contextOf(caller, facts))
      return { status: 200, body: { data: await answer(state ?? before, caller) } }
    },
  ),
]
