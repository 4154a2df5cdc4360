import { outcomeModel } from '#domain/outcomes/model.ts'
import { paymentAccount } from '#domain/payment-accounts/payment-account.ts'
import { pipeline } from '#domain/pipeline/pipeline.ts'
import { policyRules } from '#domain/policy-rules/policy-rules.ts'
import { seededModel } from '#domain/outcomes/record.ts'
import type { SecretCheck } from '#infra/crypto/secret-hash.ts'
import type { Parts } from '#infra/parts.ts'
import { apiApplicationsSection } from './access/api-application-setup.ts'
import { campaignsSection, leadIntakeSections } from './campaigns/setup.ts'
import { productsSection } from './catalogue/products-setup.ts'
import { rateTablesSection } from './catalogue/rate-tables-setup.ts'
import type { HasSold } from './catalogue/routes.ts'
import { customIntegrationsSection } from './custom-integrations/setup.ts'
import { deliverySettingsSection } from './deliveries/setup.ts'
import { makeDocumentFiles } from './catalogue/document-files.ts'
import { commandHandler } from './writing/handle.ts'
import { endpointConnectionsSection } from './integrations/setup.ts'
import type { Catalogue } from './catalogue/live-catalogue.ts'
import { loyaltyProgrammesSection } from './loyalty/setup.ts'
import { outcomeModelSections } from './outcomes/setup.ts'
import { outreachSections } from './outreach/setup.ts'
import { paymentAccountIdOf } from './payment-accounts/accounts.ts'
import { paymentAccountsSection } from './payment-accounts/setup.ts'
import { pipelineSections } from './pipeline/setup.ts'
import { policyRulesSection } from './policy-rules/setup.ts'
import { providerAccountsSection } from './provider-accounts/setup.ts'
import { makeReportUnknownNames } from './setup-file/names.ts'
import { lifecycleActionsSection } from './workflows/setup.ts'
import { namedTargets } from './workflows/workflow-choices.ts'
import { workflowsSection } from './workflows/workflow-setup.ts'
import type { Writer } from './writing/writer.ts'

type Deps = Pick<Parts, 'keys' | 'pool'> & {
  readonly writer: Writer
  readonly checkSecret: SecretCheck
  readonly catalogue: Catalogue
  /** Whether webhooks may go to an address by plain http. */
  readonly allowsHttp: (address: string) => boolean
  readonly hasSold: HasSold
}

/** Every part of a set-up file, in the order in which they are applied. */
export const setupSections = ({ writer, pool, checkSecret, keys, catalogue, allowsHttp, hasSold }: Deps) => [
  apiApplicationsSection({ writer, checkSecret }),
  providerAccountsSection({ writer, keys, allowsHttp }),
  paymentAccountsSection({ writer, keys, allowsHttp }),
  rateTablesSection(writer),
  productsSection({
    writer,
    hasSold,
    documentFiles: makeDocumentFiles(pool),
    hasRpiFigures: async (organisation_id) =>
      ((await commandHandler(writer, policyRules).load(organisation_id))?.rpi ?? []).length > 0,
    hasPaymentAccount: async (organisation_id, mode) =>
      (await commandHandler(writer, paymentAccount).load(paymentAccountIdOf(organisation_id, mode))) !== undefined,
  }),
  endpointConnectionsSection({ writer, keys, allowsHttp }),
  deliverySettingsSection(writer),
  customIntegrationsSection({
    writer,
    keys,
    allowsHttp,
    outcomesOf: async (organisation_id) =>
      (await commandHandler(writer, outcomeModel).load(organisation_id)) ?? seededModel,
  }),
  lifecycleActionsSection({ writer, catalogue }),
  campaignsSection(writer),
  ...leadIntakeSections(writer),
  loyaltyProgrammesSection({ writer, reportUnknownNames: makeReportUnknownNames(namedTargets(writer.log, catalogue)) }),
  ...pipelineSections(writer),
  ...outcomeModelSections(writer, commandHandler(writer, pipeline).load),
  policyRulesSection(writer),
  workflowsSection({ writer, targets: namedTargets(writer.log, catalogue) }),
  ...outreachSections({ writer, reportUnknownNames: makeReportUnknownNames(namedTargets(writer.log, catalogue)) }),
]
