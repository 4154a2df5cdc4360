import { directoryFold, emptyDirectory } from '#domain/access/record.ts'
import { integrationsFold, noIntegrations } from '#domain/custom-integrations/record.ts'
import { signingSecretsFold } from '#domain/integrations/record.ts'
import { programmesFold } from '#domain/loyalty/record.ts'
import { operatorKeysFold } from '#domain/operator-keys/record.ts'
import { outcomeModelsFold } from '#domain/outcomes/record.ts'
import { outreachSettingsFold, outreachStreamsFold } from '#domain/outreach/stream-record.ts'
import { paymentAccountsFold } from '#domain/payment-accounts/record.ts'
import { pipelinesFold } from '#domain/pipeline/record.ts'
import { policyRulesFold } from '#domain/policy-rules/record.ts'
import { providerAccountsFold } from '#domain/provider-accounts/record.ts'
import { signInProvidersFold } from '#domain/sign-in/record.ts'
import { noUsers, usersFold } from '#domain/users/record.ts'

/** The live folds that the domain defines, and what each begins with. Those of command-api are in `kept-folds.test.ts`. */
export const liveFolds = [
  { fold: directoryFold, empty: emptyDirectory },
  { fold: integrationsFold, empty: noIntegrations },
  { fold: operatorKeysFold, empty: () => new Map() },
  { fold: outcomeModelsFold, empty: () => new Map() },
  { fold: outreachSettingsFold, empty: () => new Map() },
  { fold: outreachStreamsFold, empty: () => new Map() },
  { fold: paymentAccountsFold, empty: () => new Map() },
  { fold: pipelinesFold, empty: () => new Map() },
  { fold: policyRulesFold, empty: () => new Map() },
  { fold: programmesFold, empty: () => new Map() },
  { fold: providerAccountsFold, empty: () => new Map() },
  { fold: signInProvidersFold, empty: () => new Map() },
  { fold: signingSecretsFold, empty: () => new Map() },
  { fold: usersFold, empty: noUsers },
]
