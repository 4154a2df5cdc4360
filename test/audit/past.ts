import { randomUUID } from 'node:crypto'
import { toStored, type EventOf, type EventShapes, type Position } from '#domain/event.ts'
import { expect, vi } from 'vitest'
import type { wholeService } from '../whole-service.ts'

type Service = Awaited<ReturnType<typeof wholeService>>

/** A moment of the log. */
export type Recorded = { readonly position: Position; readonly known_at: string }

/** An event, mostly as its sample with some fields of its own. */
export type Happening = Readonly<Record<string, unknown>> & { readonly type: string }

/** Has events happen in a firm at business times of their own; answers when the last was recorded. */
export const pastOf =
  ({ parts }: Service, organisation_id: string) =>
  async <Shapes extends EventShapes>(
    stream: string,
    shapes: Shapes,
    events: readonly (readonly [at: string, event: Happening])[],
  ): Promise<Recorded> => {
    const metadata = { organisation_id, actor: { type: 'system' as const, id: null }, causation_id: null }
    await parts.eventLog.append(
      stream,
      'any',
      events.map(([occurred_at, event]) => ({
        id: randomUUID(),
        ...toStored(shapes, event as EventOf<Shapes>), // which its shape checks
        metadata: { ...metadata, correlation_id: randomUUID(), occurred_at },
      })),
    )
    const [last] = await parts.storedLog.read(stream, { direction: 'backwards', limit: 1 })
    if (!last) return expect.fail('Nothing was recorded.')
    // What happens next is recorded at another time.
    await vi.waitUntil(() => Date.now() > last.recorded_at.getTime() + 1)
    return { position: last.position, known_at: last.recorded_at.toISOString() }
  }
