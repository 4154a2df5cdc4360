import { policyEvents, type PolicyDocumentKind } from '#domain/policies/events.ts'
import { policy as policyDecider } from '#domain/policies/policy.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import { OrganisationId } from '#domain/values.ts'
import type { SealedFiles } from '#infra/crypto/sealed-files.ts'
import { derivedId } from '#infra/ids.ts'
import { renderPdf, type PdfContent } from '#infra/pdf.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { Catalogue } from '../live-catalogue.ts'
import type { Reaction } from '../reaction.ts'
import { cancellationNotice, policySchedule } from './documents.ts'

const { PolicyBound } = policyEvents

type Deps = {
  readonly writer: Writer
  readonly catalogue: Pick<Catalogue, 'release'>
  readonly files: SealedFiles
  readonly organisations: ReadonlyMap<string, { readonly name: string }>
}

/** The schedule of a policy, and how it can be cancelled, are rendered once and kept. */
export const whenPolicyBoundIssueDocuments = ({
  writer,
  catalogue,
  files,
  organisations,
}: Deps): Reaction<{ PolicyBound: typeof PolicyBound }> => {
  const { handle, load } = commandHandler(writer, policyDecider)

  const issue = async (policy: PolicyRecord, kind: PolicyDocumentKind, content: PdfContent) => {
    const { organisation_id, id } = policy
    const version_id = derivedId('policy_document_version', id, kind, '1')
    const kept = await files.keep({
      organisation_id,
      id: version_id,
      subject: policy.customer.id,
      media_type: 'application/pdf',
      content: await renderPdf(content),
    })
    return { kind, document_id: derivedId('policy_document', id, kind), version_id, ...kept }
  }

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
      const documents = [await issue(policy, 'policy_schedule', policySchedule(about))]
      if (policy.cooling_off_ends_on !== null)
        documents.push(await issue(policy, 'cancellation_notice', cancellationNotice(about)))
      await handle(policy_id, { type: 'IssueDocuments', documents }, context)
    },
  }
}
