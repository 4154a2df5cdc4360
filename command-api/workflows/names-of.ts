import type { CampaignId, OrganisationId, ProductId } from '#domain/values.ts'
import type { Integrations } from '#domain/custom-integrations/record.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import { OwnError } from '#domain/own-error.ts'
import type { LiveCampaigns } from '../campaigns/live-campaigns.ts'
import { productIdOf } from '../catalogue/ids.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import type { LiveConnections } from '../integrations/live-connections.ts'

/** The names by which a set-up file and requests speak of what an organisation has, by its id. */
export type Names = {
  readonly campaign: (id: CampaignId) => string
  readonly product: (id: ProductId) => string
  readonly endpoint_connection: (id: string) => string
  /** Of an integration and its connection: `Mailing list/main`. */
  readonly integration: (id: string) => string
  readonly stream: (id: string) => string
}

export type NamesOf = (organisation_id: OrganisationId) => Names

type Deps = {
  readonly catalogue: Pick<Catalogue, 'slugs'>
  readonly campaigns: LiveCampaigns
  readonly connections: LiveConnections
  readonly integrations: Readonly<Integrations>
  readonly outreach: { readonly streams: ReadonlyMap<string, Pick<OutreachStream, 'slug'>> }
}

/** Nothing is taken away while something else names it. */
const nameAt = (id: string, name: string | undefined): string => {
  if (name === undefined) throw new OwnError(`Nothing is known of ${id}, which is named elsewhere.`)
  return name
}

export const makeNamesOf =
  ({ catalogue, campaigns, connections, integrations, outreach }: Deps): NamesOf =>
  (organisation_id) => ({
    campaign: (id) => nameAt(id, campaigns(organisation_id).find((each) => each.id === id)?.key),
    product: (id) =>
      nameAt(
        id,
        catalogue.slugs(organisation_id).find((slug) => productIdOf(organisation_id, slug) === id),
      ),
    endpoint_connection: (id) => nameAt(id, connections.get(id)?.name),
    integration: (id) => {
      const connection = integrations.connections.get(id)
      const integration = integrations.integrations.get(connection?.custom_integration_id ?? '')
      return `${nameAt(id, integration?.name)}/${nameAt(id, connection?.name)}`
    },
    stream: (id) => nameAt(id, outreach.streams.get(id)?.slug),
  })
