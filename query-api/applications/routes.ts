import { z } from 'zod'
import {
  Application,
  renderApplication,
  shownPresentation,
  type ApplicationRecord,
} from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import type { Presentation } from '#domain/catalogue/record.ts'
import { ApplicationId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { Problem } from '#infra/http/problem.ts'
import { accessTo, readOrWrite, route, type Route } from '#infra/http/route.ts'
import { shareTokenOf } from '#infra/crypto/share-token.ts'
import { cacheOfBytes } from '#infra/size.ts'
import { findDocument, requireDocument } from '../find-document.ts'

const presentationBytes = 32 * 2 ** 20

type Deps = { readonly db: Database; readonly keys: Pick<Keys, 'shareTokens'> }

export const applicationRoutes = ({ db, keys }: Deps): Route[] => {
  // A release never changes, so neither do its presentations.
  const presentations = cacheOfBytes<{ readonly shown: Presentation | null }>(presentationBytes)

  const readRelease = async ({ organisation_id, release_id }: ApplicationRecord): Promise<Release> => {
    const release = await findDocument<Release>(db, 'releases', organisation_id, release_id)
    if (!release) throw new Problem('unavailable', 'What this application was started with is not read yet. Try again.')
    return release
  }

  const presentationOf = async (record: ApplicationRecord): Promise<Presentation | null> => {
    const { organisation_id, release_id, presentation_id } = record
    if (presentation_id === null) return null
    const key = `${organisation_id} ${release_id} ${presentation_id}`
    const known = presentations.get(key)
    if (known) return known.shown
    const shown = shownPresentation(await readRelease(record), record)
    presentations.set(key, { shown })
    return shown
  }

  return [
    route(
      {
        method: 'get',
        address: '/api/v1/applications/:id',
        tag: 'Applications',
        summary: 'Read an application',
        access: accessTo('application', readOrWrite),
        path: z.object({ id: ApplicationId }),
        answers: { 200: z.object({ data: Application }) },
      },
      async ({ path: { id }, caller: { organisation_id, kind } }) => {
        const record = await requireDocument<ApplicationRecord>(db, 'applications', organisation_id, id)
        const shown = renderApplication(record, await presentationOf(record))
        const data = kind === 'server' ? { ...shown, share_token: shareTokenOf(keys, id) } : shown
        return { status: 200, body: { data } }
      },
    ),
  ]
}
