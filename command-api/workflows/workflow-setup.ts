import { z } from 'zod'
import { workflow, type WorkflowCommand } from '#domain/workflows/workflow.ts'
import { commandHandler, type Writer } from '../handle.ts'
import { reportRefusal, type SetupContext, type SetupSection, type SetupStep } from '../setup-section.ts'
import { DeclaredWorkflow, resolveNames, workflowIdOf, type NamedTargets } from './workflow-choices.ts'

type Deps = { readonly writer: Writer; readonly targets: NamedTargets }

/** The sections of a set-up file in which what a workflow names is declared, and by which field. */
const declaredIn: Readonly<Record<keyof NamedTargets, readonly [section: string, field: string]>> = {
  campaign: ['campaigns', 'key'],
  product: ['products', 'slug'],
  endpoint_connection: ['endpoint_connections', 'name'],
  integration: ['custom_integrations', 'name'],
  stream: ['outreach_streams', 'slug'],
}

/** What happens when something happens. */
export const workflowsSection = ({ writer, targets }: Deps): SetupSection<DeclaredWorkflow> => {
  const { handle, load, preview } = commandHandler(writer, workflow)

  const planOne = async (
    { name, state, ...declared }: DeclaredWorkflow,
    index: number,
    { organisation_id, context, declared: declaredAt, report }: SetupContext,
  ): Promise<SetupStep | undefined> => {
    const workflow_id = workflowIdOf(organisation_id, name)
    const { unknown, ...found } = await resolveNames(
      targets,
      { organisation_id, workflow_id },
      declared,
      (word, named) => {
        const [section, field] = declaredIn[word]
        // An integration may be named together with its connection.
        const [name = named] = word === 'integration' ? named.split('/') : [named]
        return namesIn(declaredAt(section), field).includes(name.trim())
      },
    )
    for (const { path, reason } of unknown) report([index, ...path], reason)
    if (unknown.length > 0) return undefined

    const choices = { ...found, state }
    const existing = await load(workflow_id)
    const command: WorkflowCommand = existing
      ? { type: 'ChangeWorkflow', choices }
      : { type: 'CreateWorkflow', workflow_id, organisation_id, name, choices }
    const events = await preview(workflow_id, command)
    return {
      what: `workflow ${name}`,
      change: events.length === 0 ? 'none' : existing ? 'change' : 'create',
      details: events.length === 0 ? [] : detailsOf({ name, state, ...declared }),
      apply: async () => {
        await handle(workflow_id, command, context)
      },
    }
  }

  return {
    key: 'workflows',
    schema: DeclaredWorkflow.strict(),
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ name }) => name === each.name)
        if (earlier === index) return reportRefusal(setup, [index], () => planOne(each, index, setup))
        setup.report([index, 'name'], `is that of workflows[${earlier}]`)
        return undefined
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
  }
}

const detailsOf = ({ trigger, actions, state }: DeclaredWorkflow): string[] => {
  const { event_type, campaign, product } = trigger
  const limit = campaign ?? product
  return [
    `on ${event_type}${limit === null ? '' : ` of ${limit}`}`,
    ...actions.map((action) => {
      switch (action.kind) {
        case 'webhook':
          return `sends it to ${action.endpoint_connection}`
        case 'integration':
          return `calls ${action.endpoint} of ${action.integration}`
        case 'outreach_stream':
          return `the person joins ${action.stream}`
      }
    }),
    ...(state === 'archived' ? ['archived'] : []),
  ]
}

/** The names of what the same file declares elsewhere. */
const namesIn = (declared: readonly unknown[], field: string): readonly string[] =>
  declared.flatMap((each) => z.object({ [field]: z.string().trim() }).safeParse(each).data?.[field] ?? [])
