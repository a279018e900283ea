import { ApiProxy, ConfigStore, registerDetailsViewSection, registerMapSource, registerPluginSettings } from '@kinvolk/headlamp-plugin/lib';
import { NameValueTable, SectionBox, SimpleTable } from '@kinvolk/headlamp-plugin/lib/CommonComponents';
import { Button, Link, TextField, Typography } from '@mui/material';
import React from 'react';
import { clean, factsOf, mapOf, notesOf, problemsOf, proxyPath, resourcesOf, servicePath, tokenHeader } from './documents';

// Where the page of the controller is: the Service that the chart creates.
const store = new ConfigStore<{ namespace?: string; service?: string }>('berth');
const place = (set: { namespace?: string; service?: string } | null) => ({ namespace: set?.namespace || 'kube-system', service: set?.service || 'berth-page' });

// The token is kept in memory, until the page is loaded again.
let token = '';
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
const useToken = () => React.useSyncExternalStore(subscribe, () => token);
function enterToken(text: string) {
  token = text.trim();
  listeners.forEach(listener => listener());
}

// read reads a document. A refusal is one of Berth, so it does not end the session of Headlamp.
const read = (path: string) => ApiProxy.request(path, { headers: { [tokenHeader]: token } }, false);

const period = 20000;

// useDocuments reads documents and reads them again after a while. All but the first may be missing: only the
// replica that leads knows the cloud.
function useDocuments(paths: string[]) {
  const [found, setFound] = React.useState<{ documents?: any[]; error?: string }>({});
  const current = useToken();
  const key = paths.join(' ');
  React.useEffect(() => {
    let [ended, timer] = [false, 0];
    async function refresh() {
      try {
        const documents = await Promise.all(paths.map((path, i) => (i ? read(path).catch(() => undefined) : read(path))));
        if (!ended) setFound({ documents });
      } catch (err) {
        if (!ended) setFound({ error: String((err as Error).message ?? err) });
      }
      if (!ended) timer = window.setTimeout(refresh, period);
    }
    setFound({});
    if (current) refresh();
    return () => {
      ended = true;
      window.clearTimeout(timer);
    };
  }, [key, current]);
  return found;
}

function TokenForm({ error }: { error?: string }) {
  const [text, setText] = React.useState('');
  return (
    <form onSubmit={e => { e.preventDefault(); enterToken(text); }}>
      {error && <Typography role="alert" color="error">{clean(error)}</Typography>}
      <TextField size="small" type="password" autoComplete="off" label="Token for Berth" value={text} onChange={e => setText(e.target.value)} helperText="The output of kubectl create token, for an account that may list Services" />
      <Button type="submit">Use this token</Button>
    </form>
  );
}

function ServiceDetails({ namespace, name }: { namespace: string; name: string }) {
  const where = place(store.useConfig()());
  const { documents, error } = useDocuments([servicePath(where, namespace, name)]);
  if (!useToken() || error) return <SectionBox title="Load balancer (Berth)"><TokenForm error={error} /></SectionBox>;
  const service = documents?.[0];
  if (!service) return <SectionBox title="Load balancer (Berth)">Reading the Service …</SectionBox>;
  const [problems, resources] = [problemsOf(service), resourcesOf(service)];
  return (
    <SectionBox title="Load balancer (Berth)">
      <NameValueTable rows={factsOf(service).map(([fact, value]) => ({ name: fact, value }))} />
      {problems.length > 0 && <SimpleTable data={problems} columns={[
        { label: 'Severity', datum: 'severity' },
        { label: 'Code', getter: p => (p.page ? <Link href={p.page}>{p.code}</Link> : p.code) },
        { label: 'Field', datum: 'where' },
        { label: 'Problem', datum: 'text' },
      ]} />}
      {resources.length > 0 && <SimpleTable data={resources} columns={[
        { label: 'Part', datum: 'label' }, { label: 'Role', datum: 'role' }, { label: 'State', datum: 'state' }, { label: 'Leads to', datum: 'leads' },
      ]} />}
      {notesOf(service).map(note => <Typography key={note}>{note}</Typography>)}
    </SectionBox>
  );
}

registerDetailsViewSection(({ resource }) => {
  const json = resource?.jsonData;
  if (json?.kind !== 'Service' || json.spec?.type !== 'LoadBalancer') return null;
  return <ServiceDetails namespace={json.metadata.namespace} name={json.metadata.name} />;
});

function BalancerNode({ node }: { node: { data?: any } }) {
  const owner = node.data?.owner;
  return owner ? <ServiceDetails namespace={owner.namespace} name={owner.name} /> : null;
}

registerMapSource({
  id: 'berth',
  label: 'Load balancers (Berth)',
  useData() {
    const where = place(store.useConfig()());
    const { documents } = useDocuments([proxyPath(where, 'services'), proxyPath(where, 'shared')]);
    return React.useMemo(() => {
      const { nodes, edges } = mapOf(documents?.[0], documents?.[1]);
      return { nodes: nodes.map(n => ({ ...n, detailsComponent: BalancerNode })), edges };
    }, [documents]) as any;
  },
});

function Settings() {
  const set = place(store.useConfig()());
  return (
    <NameValueTable rows={[
      { name: 'Namespace of Berth', value: <TextField size="small" value={set.namespace} onChange={e => store.update({ namespace: e.target.value })} /> },
      { name: 'Service of the page', value: <TextField size="small" value={set.service} onChange={e => store.update({ service: e.target.value })} /> },
    ]} />
  );
}

registerPluginSettings('berth', Settings, false);
