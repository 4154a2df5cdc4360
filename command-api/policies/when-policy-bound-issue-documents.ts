import type { Release } from '#domain/catalogue/events.ts'
import { keyDocumentPath } from '#domain/checkout/record.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policy as policyDecider } from '#domain/policies/policy.ts'
import type { PolicyRules } from '#domain/policy-rules/events.ts'
import { OrganisationId } from '#domain/values.ts'
import type { SealedFiles } from '#infra/crypto/sealed-files.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { cancellationNotice, keptDocument, policySchedule } from './documents.ts'

const { PolicyBound } = policyEvents

type Deps = {
  readonly writer: Writer
  readonly catalogue: Pick<Catalogue, 'release'>
  readonly files: SealedFiles
  readonly organisations: ReadonlyMap<string, { readonly name: string }>
  readonly rulesOf: (organisation_id: OrganisationId) => Pick<PolicyRules, 'contact'>
}

/** The product's documents for every customer, before or after the sale; the disclosure about the firm belongs to no policy. */
const keyDocuments = ({ checkout }: Release) =>
  checkout.key_documents
    .filter(({ kind }) => kind !== 'initial_disclosure')
    .map(({ document_id, version_id, kind, name, url }) => ({
      kind,
      document_id,
      version_id,
      sha256: null,
      bytes: null,
      key_document: { name, url: url ?? keyDocumentPath(version_id) },
    }))

/** The schedule of a policy, and how it can be cancelled, are rendered once and kept; the key documents go with them. */
export const whenPolicyBoundIssueDocuments = ({
  writer,
  catalogue,
  files,
  organisations,
  rulesOf,
}: Deps): Reaction<{ PolicyBound: typeof PolicyBound }> => {
  const { handle, load } = commandHandler(writer, policyDecider)

  return {
    name: 'when-policy-bound-issue-documents',
    categories: ['policy'],
    events: { PolicyBound },
    target: ({ policy_id }) => `policy-${policy_id}`,
    react: async ({ policy_id, product_id, product_release_id }, _recorded, context) => {
      const policy = await load(policy_id)
      const organisation_id = OrganisationId.parse(context.organisation_id)
      const release = await catalogue.release(organisation_id, product_id, product_release_id)
      if (!policy || !release) throw new Error(`Policy ${policy_id} or its release cannot be read.`)
      const about = { policy, release, firm: organisations.get(organisation_id)?.name ?? '' }
      const keep = keptDocument(files, policy, '1')
      const documents = [await keep('policy_schedule', policySchedule(about))]
      if (policy.cooling_off_ends_on !== null)
        documents.push(
          await keep(
            'cancellation_notice',
            cancellationNotice({ ...about, contact: rulesOf(organisation_id).contact }),
          ),
        )
      await handle(policy_id, { type: 'IssueDocuments', documents: [...documents, ...keyDocuments(release)] }, context)
    },
  }
}
