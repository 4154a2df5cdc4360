import { access } from './access/capability.ts'
import { applications } from './applications/capability.ts'
import { approvals } from './approvals/capability.ts'
import { campaigns } from './campaigns/capability.ts'
import type { Capability } from './capability.ts'
import { catalogue } from './catalogue/capability.ts'
import { claims } from './claims/capability.ts'
import { clock } from './clock/capability.ts'
import { complaints } from './complaints/capability.ts'
import { consumers } from './consumers/capability.ts'
import { customIntegrations } from './custom-integrations/capability.ts'
import { customers } from './customers/capability.ts'
import { deliveries } from './deliveries/capability.ts'
import { erasures } from './erasures/capability.ts'
import { ingests } from './ingests/capability.ts'
import { integrations } from './integrations/capability.ts'
import { leads } from './leads/capability.ts'
import { loyalty } from './loyalty/capability.ts'
import { messageNews } from './message-news/capability.ts'
import { operatorKeys } from './operator-keys/capability.ts'
import { outcomes } from './outcomes/capability.ts'
import { outreach } from './outreach/capability.ts'
import { paymentAccounts } from './payment-accounts/capability.ts'
import { paymentNews } from './payment-news/capability.ts'
import { payments } from './payments/capability.ts'
import { pipeline } from './pipeline/capability.ts'
import { policies } from './policies/capability.ts'
import { premiums } from './premiums/capability.ts'
import { providerAccounts } from './provider-accounts/capability.ts'
import { signIn } from './sign-in/capability.ts'
import { retention } from './retention/capability.ts'
import { users } from './users/capability.ts'
import { workflows } from './workflows/capability.ts'

/** All capabilities of the command side. */
export const capabilities: readonly Capability[] = [
  access,
  operatorKeys,
  users,
  signIn,
  approvals,
  clock,
  consumers,
  providerAccounts,
  paymentAccounts,
  catalogue,
  integrations,
  deliveries,
  customIntegrations,
  campaigns,
  ingests,
  loyalty,
  pipeline,
  outcomes,
  workflows,
  outreach,
  customers,
  erasures,
  retention,
  leads,
  applications,
  paymentNews,
  payments,
  premiums,
  policies,
  claims,
  complaints,
  messageNews,
]
