import { z } from 'zod'
import { isAboutLeads, Workflow } from '#domain/workflows/record.ts'
import { workflow, type WorkflowChoices } from '#domain/workflows/workflow.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { WorkflowId } from '#domain/workflows/events.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { newId } from '#infra/ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Leads } from '../leads/live-leads.ts'
import { By, impersonalRoute, namedBy, teamContext, teamRoute } from '../operator.ts'
import { pageByName, pageParameters } from '../page.ts'
import type { LiveWorkflows } from './live-workflows.ts'
import { chosen, DeclaredWorkflow, resolveNames, workflowIdOf, type NamedTargets } from './workflow-choices.ts'

type Deps = {
  readonly writer: Writer
  readonly workflows: LiveWorkflows
  readonly targets: NamedTargets
  readonly leads: Leads
}

const workflowsAddress = '/admin/v1/organisations/:organisation_id/workflows'
const oneWorkflow = `${workflowsAddress}/:workflow_id` as const

const WorkflowsPath = z.object({ organisation_id: OrganisationId })
const WorkflowPath = WorkflowsPath.extend({ workflow_id: WorkflowId })

const OneWorkflow = z.object({ data: Workflow })
const Run = z.object({ run_id: z.uuid(), workflow_id: WorkflowId, contact_id: CustomerId }).meta({ id: 'WorkflowRun' })

const noWorkflow = () => notFound('workflow')

/** The operator's routes for workflows. */
export const workflowRoutes = ({ writer, workflows, targets, leads }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, workflow)

  const find = async ({ organisation_id, workflow_id }: z.output<typeof WorkflowPath>): Promise<Workflow> => {
    const found = await load(workflow_id)
    if (found?.organisation_id !== organisation_id) throw noWorkflow()
    return found
  }

  const resolve = async (
    ids: z.output<typeof WorkflowPath>,
    declared: Pick<DeclaredWorkflow, 'trigger' | 'actions'>,
  ): Promise<Pick<WorkflowChoices, 'trigger' | 'actions'>> => {
    const { unknown, ...found } = await resolveNames(targets, ids, declared)
    if (unknown.length === 0) return found
    const fields = Object.fromEntries(unknown.map(({ path, reason }) => [fieldAt(path), reason]))
    throw new Problem('validation_failed', `Correct ${Object.keys(fields).join(', ')}: there is none of this name.`, {
      fields,
    })
  }

  return [
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address: workflowsAddress,
        summary: 'List the workflows of an organisation, by name',
        path: WorkflowsPath,
        query: z.object(pageParameters),
        answers: { 200: z.object({ data: z.array(Workflow).readonly(), next_cursor: z.string().nullable() }) },
      },
      async ({ path: { organisation_id }, query }) => {
        const own = [...workflows.values()].filter((each) => each.organisation_id === organisation_id)
        return { status: 200, body: pageByName('workflows', own, query) }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: workflowsAddress,
        summary: 'Create a workflow: what is done when something happens, from now on',
        path: WorkflowsPath,
        body: DeclaredWorkflow,
        errors: ['conflict'],
        answers: { 201: OneWorkflow },
      },
      async ({ path: { organisation_id }, body: { name, state, ...declared }, ...facts }) => {
        const ids = { organisation_id, workflow_id: workflowIdOf(organisation_id, name) }
        const choices = { ...(await resolve(ids, declared)), state }
        const command = { type: 'CreateWorkflow', ...ids, name, choices } as const
        const { state: created } = await handle(ids.workflow_id, command, teamContext(organisation_id, facts))
        if (!created) throw noWorkflow()
        return { status: 201, body: { data: created } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address: oneWorkflow,
        summary: 'Show a workflow',
        path: WorkflowPath,
        answers: { 200: OneWorkflow },
      },
      async ({ path }) => ({ status: 200, body: { data: await find(path) } }),
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: oneWorkflow,
        summary:
          'Change a workflow: only the parts sent. An archived one does nothing; what waited for it is cancelled',
        path: WorkflowPath,
        body: z.object(chosen).partial(),
        answers: { 200: OneWorkflow },
      },
      async ({ path, body: { trigger, actions, state }, ...facts }) => {
        const known = await find(path)
        const nothing = { event_type: known.trigger.event_type, campaign: null, product: null }
        const found = await resolve(path, { trigger: trigger ?? nothing, actions: actions ?? [] })
        const choices: Partial<WorkflowChoices> = {
          ...(trigger && { trigger: found.trigger }),
          ...(actions && { actions: found.actions }),
          ...(state && { state }),
        }
        const command = { type: 'ChangeWorkflow', choices } as const
        const changed = await handle(known.id, command, teamContext(known.organisation_id, facts))
        return { status: 200, body: { data: changed.state ?? known } }
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${oneWorkflow}/runs`,
        summary: 'Run a workflow for a lead by hand, whatever else triggers it',
        path: WorkflowPath,
        body: z.object({
          contact_id: CustomerId.describe('The lead.'),
          run_id: z
            .uuid()
            .toLowerCase()
            .optional()
            .describe('Of the caller’s making: a run that is sent again is run once.'),
          by: By,
        }),
        answers: { 201: z.object({ data: Run }) },
      },
      async ({ path, body: { contact_id, run_id = newId(), by }, ...facts }) => {
        const name = namedBy(facts, by)
        const { organisation_id } = path
        const chosenWorkflow = await find(path)
        const lead = await leads.find(organisation_id, contact_id)
        if (!lead) throw notFound('lead')
        refuseUnlessRunnable(chosenWorkflow, lead.record.campaign?.id)
        await leads.handle(
          {
            contact_id,
            acts: [{ type: 'RunWorkflow', run_id, workflow_id: chosenWorkflow.id }],
            by: { type: 'user', name },
          },
          teamContext(organisation_id, facts),
        )
        return { status: 201, body: { data: { run_id, workflow_id: chosenWorkflow.id, contact_id } } }
      },
    ),
  ]
}

const refuseUnlessRunnable = (chosenWorkflow: Workflow, campaign_id: string | undefined): void => {
  const { trigger, state } = chosenWorkflow
  if (state === 'archived') throw notRunnable('workflow_id', 'is archived: enable it first')
  if (!isAboutLeads(chosenWorkflow)) throw notRunnable('workflow_id', `is for ${trigger.event_type}, not for leads`)
  if (trigger.campaign_id !== null && trigger.campaign_id !== campaign_id)
    throw notRunnable('contact_id', 'did not arrive on the campaign that the workflow is limited to')
}

const notRunnable = (field: 'workflow_id' | 'contact_id', reason: string) =>
  new Problem('validation_failed', `The workflow cannot be run: ${field} ${reason}.`, { fields: { [field]: reason } })

/** `actions[0].endpoint_connection` */
const fieldAt = (path: readonly (string | number)[]): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('')
