import { rateTableKey } from '#domain/rating/events.ts'
import { ProductId, type OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

/** A product's stream is the index of slugs: there can be one of each in an organisation. */
export const productIdOf = (organisation_id: OrganisationId, slug: string): ProductId =>
  ProductId.parse(derivedId('product', organisation_id, slug))

/** A published version is its own stream, so nothing can be published under it again. */
export const rateTableIdOf = (organisation_id: OrganisationId, key: string, version: number): string =>
  derivedId(...rateTableKey(organisation_id, key, version))
