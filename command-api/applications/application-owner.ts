import { ApplicationId } from '#domain/values.ts'
import type { FindOwner } from '#infra/http/subject.ts'
import type { Writer } from '../writing/writer.ts'

/** True where the application exists, by the first event of its stream: nothing else is read. */
export const makeApplicationOwner =
  ({ log }: Pick<Writer, 'log'>): FindOwner =>
  async (organisation_id, id) => {
    const [started] = await log.read(`application-${id.toLowerCase()}`, { limit: 1 })
    return started?.metadata.organisation_id === organisation_id
      ? { application_id: ApplicationId.parse(id) }
      : undefined
  }
