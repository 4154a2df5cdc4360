import { IngestId, type ApiApplicationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

/** "No such stream yet" is what makes a key stand for one lead for ever, however many requests race. */
export const ingestIdOfKey = (api_application_id: ApiApplicationId, key: string): IngestId =>
  IngestId.parse(derivedId('ingest', api_application_id, key))
