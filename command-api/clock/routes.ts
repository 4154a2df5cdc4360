import type { Pool } from 'pg'
import { z } from 'zod'
import { moveClock, type Clock } from '#infra/clock.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { impersonalRoute } from '../operator.ts'

const BusinessTime = z
  .object({ now: z.iso.datetime(), can_be_moved: z.boolean().describe('Only outside production.') })
  .meta({ id: 'BusinessTime' })

const tenYears = 10 * 366 * 86_400
/** Instants have years of four digits, and what begins by then may last for a life. */
const latest = Date.parse('9000-01-01T00:00:00Z')

type Deps = { readonly pool: Pool; readonly clock: Clock; readonly isClockMovable: boolean }

/** Business time, which the operator may move forward outside production: whatever becomes due by it then happens. */
export const clockRoutes = ({ pool, clock, isClockMovable }: Deps): Route[] => {
  const shown = () => ({ data: { now: clock.now().toISOString(), can_be_moved: isClockMovable } })

  return [
    route(
      {
        ...impersonalRoute('operator'),
        method: 'get',
        address: '/admin/v1/clock',
        summary: 'Show business time',
        answers: { 200: z.object({ data: BusinessTime }) },
      },
      async () => ({ status: 200, body: shown() }),
    ),
    route(
      {
        ...impersonalRoute('operator'),
        method: 'post',
        address: '/admin/v1/clock',
        summary: 'Move business time forward for all processes, outside production only; it never goes back',
        body: z.object({ forward_seconds: z.int().min(1).max(tenYears) }),
        example: { body: { forward_seconds: 1 } },
        answers: { 200: z.object({ data: BusinessTime }) },
        errors: ['conflict'],
      },
      async ({ body: { forward_seconds } }) => {
        if (!isClockMovable)
          throw new Problem('conflict', 'In production business time is real time and cannot be moved.')
        if (clock.now().getTime() + forward_seconds * 1000 > latest)
          throw new Problem('conflict', 'Business time cannot be moved beyond the year 9000, and it never goes back.')
        await moveClock(pool, forward_seconds * 1000)
        await clock.measureNow?.()
        return { status: 200, body: shown() }
      },
    ),
  ]
}
