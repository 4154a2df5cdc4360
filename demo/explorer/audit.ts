import { demoOrganisation, listOf, until, type Callers, type Example, type Examples } from './requests.ts'

/** The audit logs of the demo organisation and of the installation, once they are signed for the first time. */
export const prepareAudit = async ({ operator }: Callers): Promise<Examples> => {
  const firstSize = (below: string): Promise<string> =>
    until(async () => {
      const checkpoints = await operator('GET', `/audit/v1/${below}checkpoints`).catch(() => ({ data: [] }))
      const size: unknown = listOf(checkpoints).at(-1)?.['size']
      return typeof size === 'number' ? String(size) : undefined
    })
  const [own, former] = await Promise.all([firstSize(`organisations/${demoOrganisation}/`), firstSize('')])
  const path = { organisation_id: demoOrganisation }
  const entry: Example = { query: { index: '0' } }
  const tile = { level: '0', tile: '000.p/1' }
  return {
    getAuditLog: {},
    getAuditCheckpoints: {},
    getAuditInclusionProof: entry,
    getAuditConsistencyProof: { query: { former } },
    getAuditLogCheckpoint: {},
    getAuditLogTile: { path: tile },
    getAuditOrganisationLog: { path },
    getAuditOrganisationCheckpoints: { path },
    getAuditOrganisationInclusionProof: { path, ...entry },
    getAuditOrganisationConsistencyProof: { path, query: { former: own } },
    getAuditOrganisationLogCheckpoint: { path },
    getAuditOrganisationLogTile: { path: { ...path, ...tile } },
  }
}
