import { Rejection } from '#domain/rejection.ts'
import { findShown, type Shown } from '#infra/consumers/until-shown.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Answer, Route } from '#infra/http/route.ts'
import type { FindOwner } from '#infra/http/subject.ts'

/**
 * Routes that read what is made of the streams of a category: they answer that something is not there only once the read
 * models show all that was stored. What was just answered with an id may be there.
 */
export const onceShown = (shown: Shown, category: string, routes: readonly Route[]): readonly Route[] =>
  routes.map((route) => ({
    ...route,
    handle: async (request) => {
      let missing: unknown
      const handle = (): Promise<Answer | undefined> =>
        route.handle(request).catch((error: unknown) => {
          if (!(error instanceof Rejection || error instanceof Problem) || error.code !== 'not_found') throw error
          missing = error
          return undefined
        })
      const answer = await findShown(shown, category, handle)
      if (!answer) throw missing
      return answer
    },
  }))

/** The same for whose something is. */
export const ownerOnceShown =
  (shown: Shown, category: string, find: FindOwner): FindOwner =>
  async (organisation_id, id) =>
    findShown(shown, category, async () => find(organisation_id, id))
