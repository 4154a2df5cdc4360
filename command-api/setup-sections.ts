import { apiApplicationsSection } from './access/api-application-setup.ts'
import { fourEyesSection } from './approvals/setup.ts'
import { campaignsSection, leadIntakeSections } from './campaigns/setup.ts'
import { makeDocumentFiles } from './catalogue/document-files.ts'
import { productsSection } from './catalogue/products-setup.ts'
import { rateTablesSection } from './catalogue/rate-tables-setup.ts'
import type { BetweenCapabilities, CommandSide, SetUp } from './command-side.ts'
import { customIntegrationsSection } from './custom-integrations/setup.ts'
import { deliverySettingsSection } from './deliveries/setup.ts'
import { endpointConnectionsSection } from './integrations/setup.ts'
import { loyaltyProgrammesSection } from './loyalty/setup.ts'
import { outcomeModelSections } from './outcomes/setup.ts'
import { outreachSections } from './outreach/setup.ts'
import { paymentAccountsSection } from './payment-accounts/setup.ts'
import { pipelineSections } from './pipeline/setup.ts'
import { policyRulesSection } from './policy-rules/setup.ts'
import { providerAccountsSection } from './provider-accounts/setup.ts'
import { retentionSection } from './retention/setup.ts'
import type { AnySetupSection } from './setup-file/section.ts'
import { signInProvidersSection } from './sign-in/setup.ts'
import { lifecycleActionsSection } from './workflows/setup.ts'
import { makeNamesOf } from './workflows/names-of.ts'
import { namedTargets } from './workflows/workflow-choices.ts'
import { usersSection } from './users/setup.ts'
import { workflowsSection } from './workflows/workflow-setup.ts'

/** The parts with which sections of a set-up file are planned. */
export type SetupSide = Pick<
  CommandSide,
  | 'allowsHttp'
  | 'checkSecret'
  | 'dataKeys'
  | 'earlierTable'
  | 'hasSold'
  | 'keys'
  | 'pool'
  | 'shown'
  | 'teamAlone'
  | 'writer'
  | keyof SetUp
> &
  BetweenCapabilities

/**
 * Every part of a set-up file, in the order in which they are applied. Apart from capabilities.ts, since the thread that reads
 * files needs nothing else of the command side.
 */
export const setupSections = (side: SetupSide): readonly AnySetupSection[] => [
  usersSection(side),
  signInProvidersSection(side),
  apiApplicationsSection(side),
  providerAccountsSection(side),
  paymentAccountsSection(side),
  rateTablesSection(side),
  productsSection({ ...side, documentFiles: makeDocumentFiles(side.pool) }),
  endpointConnectionsSection(side),
  deliverySettingsSection(side),
  customIntegrationsSection({ ...side, outcomesOf: side.outcomeModelOf }),
  lifecycleActionsSection({ ...side, namesOf: makeNamesOf(side) }),
  campaignsSection(side),
  ...leadIntakeSections(side.writer),
  loyaltyProgrammesSection(side),
  ...pipelineSections(side.writer),
  ...outcomeModelSections(side.writer, side.pipelineOf),
  policyRulesSection(side.writer),
  workflowsSection({
    ...side,
    targets: namedTargets(side.writer.log, side.catalogue),
    namesOf: makeNamesOf(side),
  }),
  ...outreachSections(side),
  retentionSection(side.writer),
  fourEyesSection(side.writer),
]
