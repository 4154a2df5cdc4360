import type { Route } from '#infra/http/route.ts'
import { makeTurns } from '../turns.ts'
import { contactsRoute } from './contacts.ts'
import type { ListDeps } from './list.ts'
import { policiesInForceRoute } from './policies-in-force.ts'
import { salesRoute } from './sales.ts'
import { trialBalanceRoute, type Ledger } from './trial-balance.ts'
import { vulnerableCustomersRoute } from './vulnerable-customers.ts'

/** So many lists are made at a time. */
const atOnce = 2

/** The lists of many records that an audit asks for, as of a moment. */
export const auditListRoutes = ({
  ledger,
  ...given
}: Omit<ListDeps, 'inTurn'> & { readonly ledger: Ledger }): readonly Route[] => {
  const deps = { ...given, inTurn: makeTurns(atOnce) }
  return [
    policiesInForceRoute(deps),
    salesRoute(deps),
    contactsRoute(deps),
    vulnerableCustomersRoute(deps),
    trialBalanceRoute(deps, ledger),
  ]
}
